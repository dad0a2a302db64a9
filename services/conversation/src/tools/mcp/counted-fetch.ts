import type { Egress } from "@parley/shared/egress/egress";
import type { ByteShares } from "@parley/shared/shares/byte-shares";
import { countAnswers, TOO_MANY_ANSWERS } from "../answer-shares.ts";

/** More than the longest call: afterwards nobody waits for what a server still sends. */
const BODY_MS = 125_000;

/** `fetch` for an owner's sessions: each body counts in the owner's share, and ends in time, also one that the server never ends. */
export function countedFetch(fetch: Egress["fetch"], shares: ByteShares, ownerId: string): McpFetch {
  return async (input, init) => {
    const own = new AbortController();
    const signal = init?.signal ? AbortSignal.any([init.signal, own.signal]) : own.signal;
    const abort = (why: string) => own.abort(new Error(why));
    const timer = setTimeout(() => abort("The server did not end its answer in time"), BODY_MS);
    const full = () => abort(TOO_MANY_ANSWERS);
    const ended = () => {
      clearTimeout(timer);
      release();
    };
    const release = countAnswers(shares, { ownerId, signal, full, ended });
    try {
      const response = await fetch(input, { ...init, signal });
      if (!response.body) ended();
      return response;
    } catch (error) {
      ended();
      throw error;
    }
  };
}

export type McpFetch = (input: string | URL, init?: RequestInit) => Promise<Response>;
