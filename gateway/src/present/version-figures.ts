import type {
  CompareVersionsResponse_Difference as Difference,
  VersionFigures_Field as Field,
  VersionFigures_Latency as Latency,
  VersionFigures_Mean as Mean,
  VersionFigures_Share as Share,
  VersionFigures_Shares as Shares,
  VersionFigures,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { P95_REPLIES_MIN } from "@parley/shared/domain/present/statistics";

const COST = "cost_usd_micros";

/** The figures of a version as the API shows them. @param withCosts whether costs are shown */
export function presentVersionFigures(figures: VersionFigures, withCosts: boolean) {
  return {
    conversations: figures.conversations,
    outcomes: presentShares(figures.outcomes),
    call_outcomes: presentShares(figures.callOutcomes),
    tool_failures: presentShare(figures.toolFailures),
    analysis: Object.fromEntries(Object.entries(figures.analysis).map(([name, field]) => [name, presentField(field)])),
    call_seconds: presentMean(figures.callSeconds),
    text_latency: presentLatency(figures.textLatency),
    call_latency: presentLatency(figures.callLatency),
    replies: figures.replies,
    ...(withCosts && { [COST]: figures.costUsdMicros, unpriced_replies: figures.unpricedReplies }),
  };
}

/** How two versions differ. */
export function presentDifferences(differences: readonly Difference[], withCosts: boolean) {
  return differences
    .filter(({ figure }) => withCosts || figure !== COST)
    .map(({ figure, difference, low, high, verdict }) => ({
      figure,
      difference: difference === undefined ? null : short(difference),
      low: low === undefined ? null : short(low),
      high: high === undefined ? null : short(high),
      ...(verdict !== undefined && { verdict }),
    }));
}

function presentField({ figure }: Field) {
  switch (figure?.$case) {
    case "share":
      return presentShare(figure.value);
    case "shares":
      return presentShares(figure.value);
    default:
      return presentMean(figure?.value);
  }
}

function presentShare(share: Share | undefined) {
  return { n: share?.n ?? 0, share: share?.share === undefined ? null : short(share.share) };
}

function presentShares(shares: Shares | undefined) {
  const each = Object.entries(shares?.shares ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
  return { n: shares?.n ?? 0, shares: Object.fromEntries(each.map(([value, share]) => [value, short(share)])) };
}

function presentMean(mean: Mean | undefined) {
  return { n: mean?.n ?? 0, mean: mean?.mean === undefined ? null : short(mean.mean) };
}

function presentLatency(latency: Latency | undefined) {
  if (!latency) return null;
  const { replies, p50Ms, p95Ms } = latency;
  return { replies, p50_ms: p50Ms, p95_ms: replies < P95_REPLIES_MIN ? null : p95Ms };
}

/** Six digits are more than any of these figures is good for. */
function short(value: number): number {
  return Number(value.toPrecision(6));
}
