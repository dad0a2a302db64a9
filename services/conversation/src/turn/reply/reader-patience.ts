import { ServiceError } from "@parley/shared/errors";
import { passingTime } from "@parley/shared/shares/passing-time";

/** The longest wait for the whole reply. Sockets take megabytes before the turn waits, so it waits only for a client that hardly reads. */
const PATIENCE_MS = 30_000;

/** Waits until a reply's reader is no longer behind. @throws ServiceError cancelled when the turn has waited for it too long in all */
export type WaitForReader = (caughtUp: Promise<void>) => Promise<void>;

/**
 * How long one client may hold up a turn, and with it a session, a model and memory. A client that reads a byte a second is
 * always behind and never silent.
 */
export function readerPatience({ now, after } = passingTime): WaitForReader {
  let leftMs = PATIENCE_MS;
  return async (caughtUp) => {
    const sinceMs = now();
    const { promise: over, reject } = Promise.withResolvers<never>();
    const callOff = after(leftMs, () => reject(new ServiceError("cancelled", "The reply was read too slowly")));
    try {
      await Promise.race([caughtUp, over]);
    } finally {
      callOff();
      leftMs = Math.max(0, leftMs - (now() - sinceMs));
    }
  };
}
