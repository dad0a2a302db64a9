import { type ByteShareSettings, byteShares, type Hold } from "@parley/shared/shares/byte-shares";

const MIB = 1024 * 1024;
/**
 * Bodies of requests in progress, in bytes as sent: as text, values and a message to a service, each takes several times as much. Few may
 * wait, because what waits arrives too.
 */
const BODIES: ByteShareSettings = {
  what: "large requests",
  totalBytes: 64 * MIB,
  ownerBytes: 16 * MIB,
  waitingMax: 16,
  waitMs: 2_000,
};
/** Shorter bodies are not counted: their number is limited by connections, and their rate by the key. */
const SMALL_BYTES = 16 * 1024;

/** Bounds the memory for the bodies of requests. */
export interface BodyShares {
  /**
   * Holds memory for a request's body, until the request has been answered.
   * @param bytesMax the longest body of the route, which one of unknown length may have
   * @returns null for a short body
   * @throws ServiceError rate_limited when the owner has too many long ones in progress; cancelled when the client leaves
   */
  hold(ownerId: string, request: Request, bytesMax: number): Promise<Pick<Hold, "release"> | null>;
}

export function createBodyShares(settings = BODIES): BodyShares {
  const shares = byteShares(settings);
  return {
    async hold(ownerId, request, bytesMax) {
      const length = request.headers.get("content-length");
      const bytes = Math.min(bytesMax, length === null ? bytesMax : Number(length));
      return bytes > SMALL_BYTES ? shares.hold(ownerId, bytes, request.signal) : null;
    },
  };
}
