import { type ByteShares, byteShares } from "@parley/shared/shares/byte-shares";

/** Fewer than a process has connections, so that other owners always find one. */
const CONNECTIONS = { ownerBytes: 6, backlogBytes: 3 };

/** The database connections that one owner's turns take at a time, those of shared statements aside: each turn holds one "byte". */
export function connectionShares(): ByteShares {
  return byteShares({
    what: "chat turns",
    totalBytes: Number.POSITIVE_INFINITY,
    ...CONNECTIONS,
    // The turns in progress are limited.
    waitingMax: Number.POSITIVE_INFINITY,
  });
}
