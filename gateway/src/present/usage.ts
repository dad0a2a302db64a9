import type { CountUsageResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";

/**
 * The figures of each day, their sums, and what is stored.
 * @param withCosts whether to show costs
 */
export function presentUsage(counted: CountUsageResponse, withCosts: boolean) {
  const days = counted.days.map((day) => ({
    day: day.day,
    conversations: day.conversations,
    replies: day.replies,
    input_tokens: day.inputTokens,
    output_tokens: day.outputTokens,
    ...(withCosts && { cost_usd_micros: day.costUsdMicros, unpriced_replies: day.unpricedReplies }),
  }));
  const sum = (figure: Exclude<keyof (typeof days)[number], "day">) =>
    days.reduce((total, day) => total + (day[figure] ?? 0), 0);
  return {
    days,
    stored_bytes: counted.storedBytes,
    stored_bytes_max: counted.storedBytesMax,
    total: {
      conversations: sum("conversations"),
      replies: sum("replies"),
      input_tokens: sum("input_tokens"),
      output_tokens: sum("output_tokens"),
      ...(withCosts && { cost_usd_micros: sum("cost_usd_micros"), unpriced_replies: sum("unpriced_replies") }),
    },
  };
}
