import { type ByteShareSettings, type ByteShares, byteShares } from "@parley/shared/byte-shares";
import type { Database } from "@parley/shared/db/database";
import { batched } from "@parley/shared/rpc/batched";
import { type PendingDelivery, readPayloads } from "../store/deliveries.ts";

/**
 * Long payloads under way. An attempt makes about four times as much of one (text, signature, form, socket), and 384 MiB are what
 * `deploy/k8s` gives the process.
 */
const LONG_PAYLOADS: ByteShareSettings = {
  what: "deliveries",
  totalBytes: 16 * 1024 * 1024,
  ownerBytes: 4 * 1024 * 1024,
  // As many as can begin: the places bound them (queue.ts).
  waitingMax: Number.POSITIVE_INFINITY,
};
/** Read in one statement. */
const PAYLOADS_AT_ONCE = 32;

/**
 * Lends a delivery's payload for one use. A long one is read when its owner's share of the process's memory has room for it, and
 * given back after the use; a short one has been read ahead, and waits for nobody.
 * @param gone ends the wait for room
 * @returns null without a use when the payload was removed, or `gone` fired
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
