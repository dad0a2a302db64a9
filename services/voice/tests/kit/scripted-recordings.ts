import type { StartCallOptions } from "../../src/call/prepare-call.ts";
import { recorderOf } from "../../src/recording/record-call.ts";

/** Recordings whose bytes `write` handles. */
export function scriptedRecordings(write: () => Promise<void> = async () => {}) {
  const written: Uint8Array[] = [];
  const finished: string[] = [];
  const recordings: StartCallOptions["recordings"] = {
    begin: async (_call, clock) =>
      recorderOf({
        file: {
          write: (bytes) => {
            written.push(bytes);
            return write();
          },
          close: async () => {},
        },
        bytesMax: 1_000_000,
        clock,
        failed: () => {},
      }),
    addressOf: async () => "https://api.example/recording",
    finish: async ({ conversationId }) => void finished.push(conversationId),
  };
  return { recordings, written, finished };
}
