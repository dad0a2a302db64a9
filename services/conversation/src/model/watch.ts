import { cancelled, ServiceError } from "@parley/shared/errors";

export interface ModelLimits {
  /** To the first word over all attempts, milliseconds. */
  deadlineMs: number;
  /** Between pieces. */
  stallMs: number;
  /** For the whole reply. */
  wholeMs: number;
  /** Of the whole reply: its owner's model may go on for ever, and whoever reads the session later has it all at once. */
  charactersMax: number;
}

/**
 * Ends a turn's calls of models when nobody waits for the reply, or when it stops or takes longer than it may. How long an answer
 * may take to begin is for the call itself (`firstWordMs`).
 */
export interface ModelWatch {
  signal: AbortSignal;
  /** A piece came: from now on the time is its reader's, which a slow one may take. */
  pause(): void;
  /** The next piece of an answer is waited for: the stall limit counts. */
  resume(): void;
  /** Ends the calls with an error of the turn's own. */
  fail(error: ServiceError): void;
  /** Nothing more is wanted: whatever of the call is left is ended. */
  done(): void;
}

export interface Leaving {
  clientGone: AbortSignal;
  /** The process cannot wait for the model any longer. */
  cutOff: AbortSignal;
}

/** @param provider who is answering */
export function watchModel(provider: () => string, limits: ModelLimits, { clientGone, cutOff }: Leaving): ModelWatch {
  const controller = new AbortController();
  const late = (what: string) => () =>
    controller.abort(new ServiceError("upstream_timeout", `The ${provider()} model provider ${what}`));
  const leave = () => controller.abort(cancelled());
  const stop = () =>
    controller.abort(new ServiceError("unavailable", "The service is stopping, try again", { retryAfterMs: 1000 }));
  if (clientGone.aborted) leave();
  if (cutOff.aborted) stop();
  clientGone.addEventListener("abort", leave, { once: true });
  cutOff.addEventListener("abort", stop, { once: true });
  const whole = setTimeout(late("took too long over its answer"), limits.wholeMs);
  let next: Timer | undefined;
  return {
    signal: controller.signal,
    pause: () => clearTimeout(next),
    resume() {
      next = setTimeout(late("stopped in the middle of its answer"), limits.stallMs);
    },
    fail: (error) => controller.abort(error),
    done() {
      clearTimeout(next);
      clearTimeout(whole);
      clientGone.removeEventListener("abort", leave);
      cutOff.removeEventListener("abort", stop);
      controller.abort();
    },
  };
}
