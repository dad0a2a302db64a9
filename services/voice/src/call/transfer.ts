import { ServiceError } from "@parley/shared/errors";
import type { Logger } from "@parley/shared/log";
import type { CallKey } from "../store/calls.ts";
import type { FarEnd, Leg } from "../transport/leg.ts";
import type { LiveCalls } from "./live-calls.ts";

/** Transfers of the other party of one call. */
interface Transfers {
  /** Never rejects. */
  begin(leg: Leg | null, to: string): Promise<void>;
  /** Does the work once the outcome of a transfer in progress is known, or at once if there is none. */
  whenSettled(work: () => void): void;
}

/** @param outcome called with a transfer's outcome; must not throw */
export function transfers(log: Logger, outcome: { succeeded(to: string): void; failed(to: string): void }): Transfers {
  let settled: Promise<void> | null = null;

  return {
    begin: async (leg, to) => {
      // Before the leg is asked, because it may end at once.
      const { promise, resolve } = Promise.withResolvers<void>();
      settled = promise;
      try {
        await leg?.transfer(to);
        outcome.succeeded(to);
      } catch (error) {
        log.warn({ err: error }, "a transfer failed");
        outcome.failed(to);
      }
      settled = null;
      resolve();
    },
    whenSettled: (work) => {
      if (settled) void settled.then(work);
      else work();
    },
  };
}

/** A leg that no other process hangs up once its other party talks to somebody else, if this process dies before the call is stored. */
export function leavingLeg(leg: Leg, call: CallKey, { live, log }: { live: LiveCalls; log: Logger }): Leg {
  const reachedBy = (farEnd: FarEnd | null) =>
    live.reachedBy(call, farEnd).catch((err) => log.warn({ err }, "could not store that a call is transferred"));
  return {
    ...leg,
    transfer: async (to) => {
      await reachedBy(null);
      try {
        await leg.transfer(to);
      } catch (error) {
        await reachedBy(leg.farEnd?.() ?? null);
        throw error;
      }
    },
  };
}

/**
 * A leg that is transferred to no number that agents may not call either: a caller may have talked the model into it, and the owner
 * pays for the call.
 * @param transferring throws if the owner's policy does not allow the transfer
 */
export function guardedLeg(
  leg: Leg,
  denialOf: (mobileNumber: string) => string | null,
  transferring: (mobileNumber: string) => Promise<void> = async () => {},
): Leg {
  return {
    ...leg,
    transfer: async (to) => {
      await checkTransfer({ denialOf, transferring }, to);
      await leg.transfer(to);
    },
  };
}

/** @throws ServiceError condition if users may not be connected to this number or address; a number counts as a call of the owner's */
export async function checkTransfer(
  rules: {
    denialOf(mobileNumber: string): string | null;
    transferring(mobileNumber: string): Promise<void> | undefined;
  },
  to: string,
): Promise<void> {
  if (!to.startsWith("+")) return;
  const denial = rules.denialOf(to);
  if (denial !== null) throw new ServiceError("condition", `The call is not transferred to ${to}: ${denial}`);
  await rules.transferring(to);
}
