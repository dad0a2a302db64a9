import type { Answer } from "@parley/shared/egress/answer";
import { OVER } from "./failure.ts";

/** How long the server may take to end the body of an answer that is over, and how much it may still send. */
const REST_MS = 1_000;
const REST_BYTES_MAX = 64 * 1024;

/** The signal of one request: that of its caller, until its answer is over. */
export interface RequestSignal {
  signal: AbortSignal;
  /** Closes the connection of an answer that nobody reads any more. */
  close(answer: Answer | undefined): void;
  /** Keeps the connection of an answer that is over, for another request, if the server ends the body soon. */
  keep(answer: Answer): void;
}

export function requestSignal(outer: AbortSignal): RequestSignal {
  const own = new AbortController();
  const abort = () => own.abort(outer.reason);
  if (outer.aborted) abort();
  else outer.addEventListener("abort", abort, { once: true });
  const release = () => outer.removeEventListener("abort", abort);

  async function readRest(answer: Answer): Promise<void> {
    const timer = setTimeout(() => own.abort(OVER), REST_MS);
    try {
      let bytes = 0;
      for (let rest = await answer.read(); rest && bytes < REST_BYTES_MAX; rest = await answer.read())
        bytes += rest.reduce((sum, { length }) => sum + length, 0);
    } catch {
      // The answer is known.
    } finally {
      clearTimeout(timer);
      answer.cancel();
    }
  }

  return {
    signal: own.signal,
    close(answer) {
      release();
      answer?.cancel();
    },
    keep(answer) {
      release();
      void readRest(answer);
    },
  };
}
