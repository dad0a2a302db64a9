import { type Client, type ServiceError as GrpcError, status } from "@grpc/grpc-js";

/** How often a call is resent at most. */
const RESENDS_MAX = 3;
/**
 * How long calls wait for a service that has just lost its last replica: twice the longest pause between connection
 * attempts.
 */
const PATIENCE_MS = 2_000;

export interface Resender {
  /** Call it when a call was answered. */
  answered(): void;
  /**
   * Decides whether to resend a failed call, and resolves when that makes sense. Only a call that no server has begun
   * is resent, so nothing is done twice. In a rolling restart, one replica may go before the other is known to be back:
   * calls wait for that, but not for a service that stays down.
   * @param resends how often it has been resent
   * @param deadlineMs the call's deadline in epoch milliseconds
   */
  isDue(error: GrpcError, resends: number, deadlineMs: number): boolean | Promise<boolean>;
}

export function createResender(channel: Client): Resender {
  /** Since when calls have found no replica; null while they find one. */
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
 * Whether a call met a connection that its server was about to close, because of its age or a restart; the server has
 * not begun such a call (https://www.rfc-editor.org/rfc/rfc9113#section-8.7). Only the text distinguishes this from
 * other reasons to be unavailable.
 */
function wasRefused({ code, details }: GrpcError): boolean {
  return code === status.UNAVAILABLE && details === "Stream refused by server";
}

/** Whether there was no connection to send a call on; again only the text tells. */
function wasUnsent({ code, details }: GrpcError): boolean {
  return code === status.UNAVAILABLE && /^(round_robin: No |Name resolution failed )/.test(details);
}
