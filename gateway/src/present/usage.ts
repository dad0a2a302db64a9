import type { CountUsageResponse_Day } from "@parley/proto/parley/conversation/v1/conversation_service.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/** A figure for every day from the first to the last, those of which nothing is known being 0. */
export function presentUsage(counted: readonly CountUsageResponse_Day[], first: Date, last: Date) {
  const byDay = new Map(counted.map((day) => [day.day, day]));
  const days = [];
  for (let at = first.getTime(); at <= last.getTime(); at += DAY_MS) {
    const day = dayOf(new Date(at));
    days.push({ day, ...figures(byDay.get(day)) });
  }
  const total = days.reduce(add, figures(undefined));
  return { days, total };
}

export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

type Figures = ReturnType<typeof figures>;

function figures(day: CountUsageResponse_Day | undefined) {
  return {
    conversations: day?.conversations ?? 0,
    replies: day?.replies ?? 0,
    input_tokens: day?.inputTokens ?? 0,
    output_tokens: day?.outputTokens ?? 0,
  };
}

function add(sum: Figures, day: Figures): Figures {
  return {
    conversations: sum.conversations + day.conversations,
    replies: sum.replies + day.replies,
    input_tokens: sum.input_tokens + day.input_tokens,
    output_tokens: sum.output_tokens + day.output_tokens,
  };
}
