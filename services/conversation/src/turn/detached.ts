import type { Logger } from "@parley/shared/log";

/** Runs a generator to its end, whether its reader stays or leaves; what it yields meanwhile waits for the reader. */
export async function* detached<T>(source: AsyncGenerator<T>, log: Logger): AsyncGenerator<T> {
  const waiting: T[] = [];
  let end: { error?: unknown } | null = null;
  let isRead = true;
  let wake = () => {};
  const run = async () => {
    try {
      for await (const item of source) {
        if (isRead) waiting.push(item);
        wake();
      }
      end = {};
    } catch (error) {
      end = { error };
      if (!isRead) log.warn({ err: error }, "a turn failed after its client had left");
    }
    wake();
  };
  void run();
  try {
    for (;;) {
      yield* waiting.splice(0);
      if (waiting.length > 0) continue;
      const ended = end as { error?: unknown } | null;
      if (ended && "error" in ended) throw ended.error;
      if (ended) return;
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (waiting.length > 0 || end) resolve();
      });
    }
  } finally {
    isRead = false;
  }
}
