import type {
  VersionFigures_Field as Field,
  VersionFigures as Message,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { FieldFigure, Mean, Spread, VersionFigures } from "./version-figures.ts";

/** The figures of a version as the protocol has them. */
export function tellVersionFigures(agentVersion: number, figures: VersionFigures): Message {
  const { outcomes, replies, pricedReplies } = figures;
  return {
    agentVersion,
    conversations: figures.conversations,
    outcomes: sharesOf(outcomes),
    callOutcomes: sharesOf(figures.callOutcomes),
    toolFailures: shareOf(figures.toolFailures, outcomes.n),
    callSeconds: meanOf(figures.callSeconds),
    textLatency: figures.textLatency ?? undefined,
    callLatency: figures.callLatency ?? undefined,
    replies,
    costUsdMicros: figures.costUsdMicros,
    unpricedReplies: Math.max(replies - pricedReplies, 0),
    analysis: Object.fromEntries([...figures.analysis].map(([name, field]) => [name, fieldOf(field)])),
  };
}

function fieldOf(field: FieldFigure): Field {
  switch (field.kind) {
    case "booleans":
      return { figure: { $case: "share", value: shareOf(field.counts.get("true") ?? 0, field.n) } };
    case "literals":
      return { figure: { $case: "shares", value: sharesOf(field) } };
    case "numbers":
      return { figure: { $case: "mean", value: meanOf(field) } };
  }
}

function shareOf(part: number, n: number) {
  return { n, share: n === 0 ? undefined : part / n };
}

function sharesOf({ n, counts }: Spread) {
  return { n, shares: Object.fromEntries([...counts].map(([value, count]) => [value, count / n])) };
}

function meanOf({ n, mean }: Mean) {
  return { n, mean: n === 0 ? undefined : mean };
}
