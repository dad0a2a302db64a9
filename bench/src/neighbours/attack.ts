import type { Hostile } from "./hostile.ts";

export interface Attack {
  /** For `--only`. */
  name: string;
  /** What the hostile owner does. */
  what: string;
  /** Of its keys, unless `--tier` says otherwise. */
  tier: TierName;
  /** Makes what the attack needs, which is not measured. @returns the attack itself, which may go on until its process is killed */
  prepare(hostile: Hostile): Promise<() => Promise<unknown>>;
  /** It takes a name server of the benchmark's own. */
  needsResolver?: boolean;
}

export const TIER_NAMES = ["free", "pro", "enterprise"] as const;
export type TierName = (typeof TIER_NAMES)[number];

/** What an attacker process is given. */
export interface Orders {
  attack: string;
  url: string;
  ownerId: string;
  apiKey: string;
  /** Of the hostile endpoints. */
  endpointsUrl: string;
  conversationAddress: string;
  dispatcherAddress: string;
}

/** What an attacker process tells: that it is prepared, and what its requests were answered with. */
export type Report = { ready: true } | { failed: string } | { tally: Record<string, number> };
