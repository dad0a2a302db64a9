import type {
  GetStatisticsResponse_Figures as Figures,
  GetStatisticsResponse,
  GetStatisticsResponse_Latency as Latency,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { CONVERSATION_TYPES, nameOf } from "../api-names.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * An owner's statistics, with every day of the period.
 * @param period midnights in UTC: of its first day, and the one after its last
 */
export function presentStatistics(
  { channels, agents, models, latencies }: GetStatisticsResponse,
  { first, end }: { first: Date; end: Date },
) {
  const days: string[] = [];
  for (let at = first.getTime(); at < end.getTime(); at += DAY_MS) days.push(new Date(at).toISOString().slice(0, 10));
  const byDay = Map.groupBy(channels, ({ day }) => day);
  return {
    days: days.map((day) => ({
      day,
      channels: (byDay.get(day) ?? []).map(({ type, figures }) => ({
        conversation_type: nameOf(CONVERSATION_TYPES, type),
        ...presentFigures(figures),
      })),
      ...presentLatencies(latencies, day),
    })),
    total: { ...sumOf(channels.map(({ figures }) => presentFigures(figures))), ...presentLatencies(latencies, "") },
    agents: agents.map(({ agentId, figures }) => ({ agent_id: agentId, ...presentFigures(figures) })),
    models: models.map(({ providerName, modelName, figures }) => ({
      provider_name: providerName,
      model_name: modelName,
      replies: figures?.replies ?? 0,
      input_tokens: figures?.inputTokens ?? 0,
      output_tokens: figures?.outputTokens ?? 0,
      ...costsOf(figures),
    })),
  };
}

export type PresentedStatistics = ReturnType<typeof presentStatistics>;

type Presented = ReturnType<typeof presentFigures>;

function presentFigures(figures: Figures | undefined) {
  return {
    conversations: figures?.begun ?? 0,
    completed: figures?.completed ?? 0,
    disconnected: figures?.disconnected ?? 0,
    failed: figures?.failed ?? 0,
    call_seconds: tenths(figures?.callSeconds ?? 0),
    replies: figures?.replies ?? 0,
    input_tokens: figures?.inputTokens ?? 0,
    output_tokens: figures?.outputTokens ?? 0,
    ...costsOf(figures),
  };
}

/** Cost of the replies whose cost is known, in millionths of a US dollar, and the number of the others. */
function costsOf(figures: Figures | undefined) {
  return { cost_usd_micros: figures?.costUsdMicros ?? 0, unpriced_replies: figures?.unpricedReplies ?? 0 };
}

function sumOf(all: readonly Presented[]): Presented {
  const total = presentFigures(undefined);
  for (const figures of all) {
    for (const name of Object.keys(total) as (keyof Presented)[]) total[name] += figures[name];
  }
  total.call_seconds = tenths(total.call_seconds);
  return total;
}

/** Rounds to tenths, because floating-point sums of tenths are not exact. */
function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The 95th percentile of fewer replies is only the slowest of them. */
export const P95_REPLIES_MIN = 20;

function presentLatencies(latencies: readonly Latency[], day: string) {
  const found = (isCall: boolean) => {
    const latency = latencies.find((each) => each.day === day && each.isCall === isCall);
    if (!latency) return null;
    const isFew = latency.replies > 0 && latency.replies < P95_REPLIES_MIN;
    return { replies: latency.replies, p50_ms: latency.p50Ms, p95_ms: isFew ? null : latency.p95Ms };
  };
  return { text_latency: found(false), call_latency: found(true) };
}
