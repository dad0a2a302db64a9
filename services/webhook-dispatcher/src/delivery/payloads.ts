import type { Database } from "@parley/shared/db/database";
import { batched } from "@parley/shared/rpc/batched";
import { type ByteShareSettings, type ByteShares, byteShares } from "@parley/shared/shares/byte-shares";
import { type PendingDelivery, readPayloads } from "../store/deliveries.ts";

/**
 * Limits for long payloads being sent. An attempt needs about four times the payload (text, signature, form, socket),
 * and `deploy/k8s` gives the process 384 MiB.
 */
const LONG_PAYLOADS: ByteShareSettings = {
  what: "deliveries",
  totalBytes: 16 * 1024 * 1024,
  ownerBytes: 4 * 1024 * 1024,
  // Unlimited here: queue.ts bounds the number of attempts.
  waitingMax: Number.POSITIVE_INFINITY,
};
/** Most payloads read in one statement. */
const PAYLOADS_AT_ONCE = 32;

/**
 * Lends a delivery's payload for one use. Reads a long payload when its owner's share of the process's memory has room,
 * and releases it after use; a short one was read ahead and needs no wait.
 * @param gone ends the wait for memory
 * @returns null, without a use, when the payload was removed or `gone` fired
 * @throws when the database cannot be read
 */
export type LendPayload = <T>(
  delivery: PendingDelivery,
  gone: AbortSignal,
  use: (payload: string) => Promise<T>,
) => Promise<T | null>;

/** The memory that long payloads share. */
export function longPayloadShares(): ByteShares {
  return byteShares(LONG_PAYLOADS);
}

export function payloadLender(db: Database, shares: ByteShares): LendPayload {
  const read = batched((deliveries: readonly PendingDelivery[]) => readPayloads(db, deliveries), PAYLOADS_AT_ONCE);
  return async (delivery, gone, use) => {
    if (delivery.payload !== null) return use(delivery.payload);
    const hold = await shares.hold(delivery.ownerId, delivery.payloadBytes, gone).catch((error) => {
      if (gone.aborted) return null;
      throw error;
    });
    if (!hold) return null;
    try {
      const payload = await read(delivery);
      return payload === null || gone.aborted ? null : await use(payload);
    } finally {
      hold.release();
    }
  };
}
