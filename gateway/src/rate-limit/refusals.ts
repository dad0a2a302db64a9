import { ServiceError } from "@parley/shared/errors";
import { enterLoop } from "@parley/shared/shares/loop-entry";
import { createPace, type PaceSettings } from "@parley/shared/shares/pace";
import { passingTime } from "@parley/shared/shares/passing-time";
import { dropBody } from "../http/unread-bodies.ts";

/**
 * Refusals for one owner, or for one address without a key. Each takes up to half a millisecond of CPU, and a client that repeats a
 * refused request immediately would get thousands a second.
 */
const REFUSALS: PaceSettings & { waitMaxMs: number } = { perSecond: 50, atOnce: 100, waitMaxMs: 2_000 };

/** Limits the pace of the responses that tell a client to ask less often, for clients that do not listen. */
export interface Refusals {
  /**
   * Waits before the response to a request that failed with `error`, if that is a refusal and there were many. The request's body
   * is dropped, so that it takes no memory in the meantime.
   * @param of the owner, or the address
   */
  wait(of: string, error: unknown, request: Request): Promise<void>;
}

export function createRefusals(settings = REFUSALS, time = passingTime): Refusals {
  const pace = createPace(settings, time);
  /** @returns null when the answer may leave at once */
  const turn = (of: string, gone: AbortSignal): Promise<void> | null => {
    try {
      return pace.take(of, 1, gone);
    } catch {
      // More are waiting already than can leave in that time.
      return new Promise((resolve) => void time.after(settings.waitMaxMs, resolve));
    }
  };
  return {
    wait: async (of, error, request) => {
      if (!(error instanceof ServiceError) || error.kind !== "rate_limited") return;
      const waited = turn(of, request.signal);
      if (!waited) return;
      await dropBody(request);
      await waited;
      // Those that came together have waited equally long, and would all leave in one turn of the loop.
      await enterLoop(of);
    },
  };
}
