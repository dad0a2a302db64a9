import { type Client, type ServiceError as GrpcError, status } from "@grpc/grpc-js";

/** How often one call is sent again at most. */
const RESENDS_MAX = 3;
/** How long calls wait for a service that has just lost its last replica. Twice the longest pause between attempts to connect. */
const PATIENCE_MS = 2_000;

export interface Resender {
  /** A call was answered. */
  answered(): void;
  /**
   * Whether a call that failed is to be sent again, once that makes sense: only one that no server has begun is, so nothing is
   * done twice. In a rolling restart the one replica may be going before it is known that the other one is back; calls wait for
   * that, but none does while the service stays away.
   * @param resends how often it was sent again already
   * @param deadlineMs epoch milliseconds, of the call
   */
  isDue(error: GrpcError, resends: number, deadlineMs: number): boolean | Promise<boolean>;
}

export function createResender(channel: Client): Resender {
  /** Since when calls find no replica; null while they do. */
  let awaySince: number | null = null;
  return {
    answered: () => {
      awaySince = null;
    },
    isDue(error, resends, deadlineMs) {
      if (resends >= RESENDS_MAX) return false;
      if (wasRefused(error)) return true;
      if (!wasUnsent(error)) {
        awaySince = null;
        return false;
      }
      awaySince ??= Date.now();
      const until = Math.min(awaySince + PATIENCE_MS, deadlineMs);
      return until > Date.now() && isReady(channel, until);
    },
  };
}

/** @param until epoch milliseconds */
export function isReady(channel: Client, until: number): Promise<boolean> {
  return new Promise((resolve) => channel.waitForReady(until, (error) => resolve(!error)));
}

/**
 * Whether a call met a connection that its server was about to close, for its age or a restart: the server has not begun it
 * (https://www.rfc-editor.org/rfc/rfc9113#section-8.7). Nothing but the text tells it from other ways to be unavailable.
 */
function wasRefused({ code, details }: GrpcError): boolean {
  return code === status.UNAVAILABLE && details === "Stream refused by server";
}

/** Whether there was no connection to send a call on: told by the text alone likewise. */
function wasUnsent({ code, details }: GrpcError): boolean {
  return code === status.UNAVAILABLE && /^(round_robin: No |Name resolution failed )/.test(details);
}
