import type { Hostile } from "./hostile/client.ts";

export interface Attack {
  /** Name for `--only`. */
  name: string;
  /** What the hostile owner does. */
  what: string;
  /** Tier of its keys, unless `--tier` names another. */
  tier: TierName;
  /** Prepares the attack, unmeasured. @returns the attack itself, which may run until its process is killed */
  prepare(hostile: Hostile): Promise<() => Promise<unknown>>;
  /** Whether it attacks nothing: a control, which shows how much the figures vary. */
  isControl?: boolean;
}

export const TIER_NAMES = ["free", "pro", "enterprise"] as const;
export type TierName = (typeof TIER_NAMES)[number];
