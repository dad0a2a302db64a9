import { cancelled, ServiceError } from "@parley/shared/errors";
import { OVER } from "./failure.ts";

export interface ModelLimits {
  /** Time to the first word, over all attempts, in milliseconds. */
  deadlineMs: number;
  /** Longest gap between pieces. */
  stallMs: number;
  /** Time for the whole reply. */
  wholeMs: number;
  /** Limit for the whole reply: a model may never stop, and every later read of the session loads all of it. */
  charactersMax: number;
}

/**
 * Aborts a turn's model calls when the client disconnects, or when the reply stalls or takes too long. The time to the
 * first word is the call's own limit (`firstWordMs`).
 */
export interface ModelWatch {
  signal: AbortSignal;
  /** A piece arrived: stops the stall timer, so that a slow reader is not counted. */
  pause(): void;
  /** Waiting for the next piece: starts the stall timer. */
  resume(): void;
  /** Aborts the calls with the given error. */
  fail(error: ServiceError): void;
  /** Aborts the rest of the call. */
  done(): void;
}

interface Leaving {
  clientGone: AbortSignal;
  /** Fires when the process must stop waiting for the model. */
  cutOff: AbortSignal;
}

/** @param provider returns the provider that is answering */
export function watchModel(provider: () => string, limits: ModelLimits, { clientGone, cutOff }: Leaving): ModelWatch {
  const controller = new AbortController();
  const late = (what: string) => () =>
    controller.abort(new ServiceError("upstream_timeout", `The ${provider()} model provider ${what}`));
  const leave = () => controller.abort(cancelled());
  const stop = () =>
    controller.abort(new ServiceError("unavailable", "The service is stopping. Try again.", { retryAfterMs: 1000 }));
  if (clientGone.aborted) leave();
  if (cutOff.aborted) stop();
  clientGone.addEventListener("abort", leave, { once: true });
  cutOff.addEventListener("abort", stop, { once: true });
  const whole = setTimeout(late("took too long to answer"), limits.wholeMs);
  const stalled = late("stopped in the middle of its answer");
  let isWaiting = false;
  let next: Timer | undefined;
  return {
    signal: controller.signal,
    pause() {
      isWaiting = false;
    },
    resume() {
      if (controller.signal.aborted) return;
      isWaiting = true;
      // One timer for all pieces: a new one for each costs several times as much.
      next = next?.refresh() ?? setTimeout(() => isWaiting && stalled(), limits.stallMs);
    },
    fail: (error) => controller.abort(error),
    done() {
      clearTimeout(next);
      clearTimeout(whole);
      clientGone.removeEventListener("abort", leave);
      cutOff.removeEventListener("abort", stop);
      controller.abort(OVER);
    },
  };
}
