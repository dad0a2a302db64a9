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
