/** A queue for one reader that holds each text once, however often it was put. */
export interface Mailbox extends AsyncIterable<string> {
  put(text: string): void;
  /** The reader gets the remaining texts, then the end or the error. */
  close(error?: Error): void;
}

/** @param overflow replaces all waiting texts once there are more than `sizeMax` */
export function createMailbox(overflow: string, sizeMax = 10_000): Mailbox {
  const waiting = new Set<string>();
  let end: { error: Error | undefined } | null = null;
  let wake = () => {};
  return {
    put(text) {
      if (waiting.size >= sizeMax) {
        waiting.clear();
        waiting.add(overflow);
      } else {
        waiting.add(text);
      }
      wake();
    },
    close(error) {
      end ??= { error };
      wake();
    },
    async *[Symbol.asyncIterator]() {
      for (;;) {
        for (const text of waiting) {
          waiting.delete(text);
          yield text;
        }
        if (end?.error) throw end.error;
        if (end) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
  };
}
