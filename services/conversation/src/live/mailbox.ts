import type { WatchConversationsResponse } from "@parley/proto/parley/conversation/v1/live.ts";

/** What waits for one watcher. */
export interface Mailbox extends AsyncIterable<WatchConversationsResponse> {
  /** @param bytes counted against the most that may wait */
  put(event: WatchConversationsResponse, bytes: number): void;
  /** Ends it once what waits has been read. */
  close(): void;
}

/** A watcher that is this far behind is cut off. */
const BEHIND_BYTES_MAX = 1024 * 1024;

export function createMailbox(): Mailbox {
  let waiting: { event: WatchConversationsResponse; bytes: number }[] = [];
  let bytesWaiting = 0;
  let isClosed = false;
  let wake = () => {};
  const close = () => {
    isClosed = true;
    wake();
  };
  return {
    put(event, bytes) {
      if (isClosed) return;
      waiting.push({ event, bytes });
      bytesWaiting += bytes;
      if (bytesWaiting > BEHIND_BYTES_MAX) {
        waiting = [{ event: closed("The watcher reads too slowly: 1 MiB of events were waiting for it"), bytes: 0 }];
        isClosed = true;
      }
      wake();
    },
    close,
    async *[Symbol.asyncIterator]() {
      for (;;) {
        const next = waiting.shift();
        if (next) {
          bytesWaiting -= next.bytes;
          yield next.event;
        } else if (isClosed) return;
        else
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
      }
    },
  };
}

function closed(reason: string): WatchConversationsResponse {
  return { id: "", event: { $case: "closed", value: { reason } } };
}
