import type { Call } from "./call.ts";

/**
 * What a run tells while it runs to its end, whether its caller reads the events or disconnects. Nothing holds the run back.
 * @param failed the log message for a run that fails after its caller has left
 * @throws what the run throws
 */
export async function* told<Event>(
  call: Pick<Call, "signal" | "log">,
  run: (tell: (event: Event) => void) => Promise<void>,
  failed: string,
): AsyncGenerator<Event> {
  let waiting: Event[] = [];
  let isRead = true;
  let isOver = false;
  let news = Promise.withResolvers<void>();
  const running = run((event) => {
    if (isRead) waiting.push(event);
    news.resolve();
  }).finally(() => {
    isOver = true;
    news.resolve();
  });
  running.catch((err) => {
    if (!isRead || call.signal.aborted) call.log.warn({ err }, failed);
  });
  try {
    while (!isOver || waiting.length > 0) {
      await news.promise;
      news = Promise.withResolvers();
      const events = waiting;
      waiting = [];
      yield* events;
    }
    await running;
  } finally {
    isRead = false;
  }
}
