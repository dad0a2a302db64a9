import { ServiceError } from "@parley/shared/errors";

export interface ModelLimits {
  /** To the first piece, milliseconds. */
  deadlineMs: number;
  /** Between pieces. */
  stallMs: number;
  /** For the whole reply. */
  wholeMs: number;
}

/** An abort signal that fires when the client is gone or the model takes longer than it may. */
export interface ModelWatch {
  signal: AbortSignal;
  /** A piece came: from now on the stall limit counts. */
  piece(): void;
  done(): void;
}

export function watchModel(provider: string, limits: ModelLimits, clientGone: AbortSignal): ModelWatch {
  const controller = new AbortController();
  const leave = () => controller.abort(new ServiceError("cancelled", "The request was cancelled"));
  const late = (what: string) => () =>
    controller.abort(new ServiceError("upstream_timeout", `The ${provider} model provider ${what}`));
  if (clientGone.aborted) leave();
  clientGone.addEventListener("abort", leave, { once: true });
  const whole = setTimeout(late("took too long over its answer"), limits.wholeMs);
  let next = setTimeout(late("did not answer in time"), limits.deadlineMs);
  return {
    signal: controller.signal,
    piece() {
      clearTimeout(next);
      next = setTimeout(late("stopped in the middle of its answer"), limits.stallMs);
    },
    done() {
      clearTimeout(next);
      clearTimeout(whole);
      clientGone.removeEventListener("abort", leave);
    },
  };
}
