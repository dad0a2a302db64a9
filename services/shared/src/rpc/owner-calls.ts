import { OWNER_IDS } from "@parley/proto/owner-ids.ts";
import { byteShares, type Hold } from "../byte-shares.ts";
import type { Call } from "./call.ts";

/** Of the calls that a process serves at once for one owner: fewer than its database has connections, so others always find one. */
const AT_ONCE = 6;
const WAITING_MAX = 1_000;
/** Searches last longer than other calls, which must not wait behind them: they have shares of their own, as do lists. */
const OWN_SHARES: readonly string[] = ["/parley.conversation.v1.ConversationService/ListConversations"];

/**
 * Waits for the owner's turn before a call is served.
 * @returns what has to be released when the call has ended, null for a call that has no share
 * @throws ServiceError rate_limited when too many of the owner's calls wait already, cancelled when the caller has gone
 */
export type EnterCall = (rpcPath: string, request: unknown, call: Call) => Hold | null | Promise<Hold>;

/**
 * Gives each owner a share of the calls that a server handles at once, so that nobody waits behind another owner's flood for a
 * connection or for the loop. Calls that stream, turns, and calls for several owners have bounds of their own.
 */
export function ownerCalls(): EnterCall {
  const shares = byteShares({
    what: "requests",
    totalBytes: Number.POSITIVE_INFINITY,
    ownerBytes: AT_ONCE,
    waitingMax: WAITING_MAX,
  });
  return (rpcPath, request, call) => {
    if (!OWNER_IDS[rpcPath]?.includes("owner_id") || OWN_SHARES.includes(rpcPath)) return null;
    const { ownerId } = request as { ownerId: string };
    return shares.tryHold(ownerId, 1) ?? shares.hold(ownerId, 1, call.signal);
  };
}
