import type { Logger } from "@parley/shared/log";
import { EmbedderError } from "./embedder.ts";
import type { Meanings } from "./meanings.ts";

/** Failures in a row after which an embedder is not asked for a while, so that not every search waits for it. */
const FAILURES_MAX = 3;
const PAUSE_MS = 10_000;

/** Does not search by meaning for a while after several failures in a row. */
export function pausing(meanings: Meanings, log: Logger): Meanings {
  let failures = 0;
  let pausedUntil = 0;
  return {
    search: async (...asked) => {
      if (performance.now() < pausedUntil) throw new Error("the embedder is not asked for a while");
      try {
        const found = await meanings.search(...asked);
        failures = 0;
        return found;
      } catch (error) {
        if (isTheEmbedders(error) && ++failures >= FAILURES_MAX) {
          failures = 0;
          pausedUntil = performance.now() + PAUSE_MS;
          log.warn(
            { reason: error instanceof Error ? error.message : error, pause_ms: PAUSE_MS },
            "searching by words only",
          );
        }
        throw error;
      }
    },
  };
}

/** Whether it would fail others too: not a query that it refuses, nor a search that was given up. */
function isTheEmbedders(error: unknown): boolean {
  if (error instanceof EmbedderError) return !error.isRefusal;
  return error instanceof DOMException && error.name === "TimeoutError";
}
