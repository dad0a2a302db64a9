import type { CountUsageResponse_Day } from "@parley/proto/parley/conversation/v1/conversation_service.ts";

/** The figures of each day, and their sums. */
export function presentUsage(counted: readonly CountUsageResponse_Day[]) {
  const days = counted.map((day) => ({
    day: day.day,
    conversations: day.conversations,
    replies: day.replies,
    input_tokens: day.inputTokens,
    output_tokens: day.outputTokens,
  }));
  const sum = (figure: Exclude<keyof (typeof days)[number], "day">) =>
    days.reduce((total, day) => total + day[figure], 0);
  return {
    days,
    total: {
      conversations: sum("conversations"),
      replies: sum("replies"),
      input_tokens: sum("input_tokens"),
      output_tokens: sum("output_tokens"),
    },
  };
}
