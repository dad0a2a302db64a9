import type { Call } from "@parley/shared/rpc/call";

/** Tells the reader of an RPC's events. @returns null if nobody reads them anymore, else a promise that is kept once they are taken */
type TellReader<Event> = (event: Event) => Promise<void> | null;

/**
 * Runs a turn to its end, whether the reader of its events stays or leaves. A turn that awaits what its events return goes no faster
 * than its reader.
 * @param unread the log's words for a turn that fails when nobody is there to hear of it
 */
export async function* toldEvents<Event>(
  call: Call,
  run: (tell: TellReader<Event>) => Promise<void>,
  unread: string,
): AsyncGenerator<Event> {
  let waiting: Event[] = [];
  let isRead = true;
  let isOver = false;
  let news = Promise.withResolvers<void>();
  let taken = Promise.withResolvers<void>();
  const tell: TellReader<Event> = (event) => {
    if (!isRead) return null;
    waiting.push(event);
    news.resolve();
    return taken.promise;
  };
  const running = run(tell).finally(() => {
    isOver = true;
    news.resolve();
  });
  running.catch((err) => {
    if (!isRead || call.signal.aborted) call.log.warn({ err }, unread);
  });
  try {
    while (!isOver || waiting.length > 0) {
      await news.promise;
      news = Promise.withResolvers();
      const events = waiting;
      waiting = [];
      yield* events;
      taken.resolve();
      taken = Promise.withResolvers();
    }
    await running;
  } finally {
    isRead = false;
    taken.resolve();
  }
}
