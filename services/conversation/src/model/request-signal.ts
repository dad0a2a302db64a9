import type { Answer } from "@parley/shared/egress/answer";

/** How long the server may take for what follows the end of an answer, and how much it may still send. */
const REST_MS = 1_000;
const REST_BYTES_MAX = 64 * 1024;

/** The signal of one request: that of its caller, until its answer is over. */
interface RequestSignal {
  signal: AbortSignal;
  /** Reads on in an answer that has ended. Null after its body, or when what follows takes too long. */
  readRest(answer: Answer): Promise<Uint8Array[] | null>;
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
  let timer: Timer | undefined;
  let late: Promise<null> | undefined;

  function lateRest(): Promise<null> {
    late ??= new Promise((resolve) => {
      timer = setTimeout(resolve, REST_MS, null);
    });
    return late;
  }

  function readRest(answer: Answer): Promise<Uint8Array[] | null> {
    const read = answer.read();
    // It fails when the answer is closed before it has come.
    read.catch(() => {});
    return Promise.race([read, lateRest()]);
  }

  async function readToEnd(answer: Answer): Promise<void> {
    try {
      let bytes = 0;
      for (let rest = await readRest(answer); rest && bytes < REST_BYTES_MAX; rest = await readRest(answer))
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
    readRest,
    close(answer) {
      release();
      clearTimeout(timer);
      answer?.cancel();
    },
    keep(answer) {
      release();
      void readToEnd(answer);
    },
  };
}
