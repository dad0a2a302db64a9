import { dollarsOf, numberOf } from "../../ui/numbers.ts";

/** What replies cost together, in millionths of a US dollar, and for how many of them that is unknown. */
export interface Costs {
  replies: number;
  cost_usd_micros?: number;
  unpriced_replies?: number;
}

/** The known cost; `Unknown` if that of no reply is known. */
export function costOf(costs: Costs): string {
  if (costs.replies === 0) return "–";
  return isUnknown(costs) ? "Unknown" : dollarsOf(costs.cost_usd_micros ?? 0);
}

/** Of how many replies the cost is unknown; null if that of each is known. */
export function unknownNote({ unpriced_replies: count = 0 }: Pick<Costs, "unpriced_replies">): string | null {
  return count === 0 ? null : `unknown for ${numberOf(count)} ${count === 1 ? "reply" : "replies"}`;
}

/** Whether there are replies and the cost of none is known. */
export function isUnknown({ replies, unpriced_replies = 0 }: Costs): boolean {
  return replies > 0 && unpriced_replies >= replies;
}
