import { OWNER_IDS } from "@parley/proto/owner-ids.ts";
import { byteShares, type Hold } from "../shares/byte-shares.ts";
import type { Call } from "./call.ts";

/**
 * Calls of one owner that a process handles at once: fewer than its database connections, so that others always find
 * one.
 */
const AT_ONCE = 6;
const WAITING_MAX = 1_000;
/**
 * The same for lists, of one owner and of all: choosing among many rows keeps a core of the database busy for up to seconds, and a
 * page has up to 4 MiB (../db/bounded-page.ts), several times as much in memory.
 */
const LISTS_AT_ONCE = 2;
const LISTS_OF_ALL = 16;

/**
 * Waits for the owner's turn before a call is served.
 * @returns the hold to release when the call has ended; null for a call without a share
 * @throws ServiceError rate_limited when too many of the owner's calls wait already, cancelled when the caller goes
 */
export type EnterCall = (
  rpcPath: string,
  request: unknown,
  call: Call,
  isList?: boolean,
) => Hold | null | Promise<Hold>;

/**
 * Gives each owner a share of the calls that a server handles at once, so that nobody waits behind another owner's
 * flood for a connection or the event loop. Streams, turns and calls for several owners have bounds of their own, and
 * so do the calls that are registered with their own shares (registration.ts).
 */
export function ownerCalls(): EnterCall {
  const shares = byteShares({
    what: "requests",
    totalBytes: Number.POSITIVE_INFINITY,
    ownerBytes: AT_ONCE,
    waitingMax: WAITING_MAX,
  });
  const lists = byteShares({
    what: "lists",
    totalBytes: LISTS_OF_ALL,
    ownerBytes: LISTS_AT_ONCE,
    waitingMax: WAITING_MAX,
  });
  return (rpcPath, request, call, isList = false) => {
    if (!OWNER_IDS[rpcPath]?.includes("owner_id")) return null;
    const { ownerId } = request as { ownerId: string };
    const { tryHold, hold } = isList ? lists : shares;
    return tryHold(ownerId, 1) ?? hold(ownerId, 1, call.signal);
  };
}
