import { ServiceError } from "@parley/shared/errors";
import { enterLoop } from "@parley/shared/shares/loop-entry";
import { createPace, type PaceSettings } from "@parley/shared/shares/pace";
import { passingTime } from "@parley/shared/shares/passing-time";
import { dropBody, isLong } from "../http/unread-bodies.ts";

/**
 * Refusals for one owner, or for one address without a key. Each takes up to half a millisecond of CPU, and a client that repeats a
 * refused request immediately would get thousands a second.
 */
const REFUSALS: RefusalSettings = { perSecond: 50, atOnce: 100, longAtOnce: 1_000, waitMaxMs: 2_000 };

interface RefusalSettings extends PaceSettings {
  /**
   * The same as `atOnce`, for requests with long bodies. While such a request waits, its body arrives and is dropped, which takes more
   * of the process than to refuse it and close its connection (bench/lessons.md).
   */
  longAtOnce: number;
  waitMaxMs: number;
}

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
  const short = createPace(settings, time);
  const long = createPace({ ...settings, atOnce: settings.longAtOnce }, time);
  /** @returns null when the answer may leave at once */
  const turn = (of: string, request: Request): Promise<void> | null => {
    try {
      return (isLong(request) ? long : short).take(of, 1, request.signal);
    } catch {
      // More are waiting already than can leave in that time.
      return new Promise((resolve) => void time.after(settings.waitMaxMs, resolve));
    }
  };
  return {
    wait: async (of, error, request) => {
      if (!(error instanceof ServiceError) || error.kind !== "rate_limited") return;
      const waited = turn(of, request);
      if (!waited) return;
      await dropBody(request);
      await waited;
      // Those that came together have waited equally long, and would all leave in one turn of the loop.
      await enterLoop(of);
    },
  };
}
