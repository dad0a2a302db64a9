import { CALL_OUTCOMES, namesOf } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { IncludeCost, IncludedCosts } from "../costs.ts";
import { Day } from "../manage/fields.ts";
import { Resource } from "../resources.ts";
import { Nullable, OneOf } from "../types.ts";

/** Which of a version's conversations figures are of, and whether they have costs. */
export const FiguresQuery = {
  from: Type.Optional(Day("First day that counts, in UTC. Without `from` and `to`, all days count.")),
  to: Type.Optional(Day("Last day that counts, in UTC, at most 366 days with `from`.")),
  include: IncludeCost,
};

const N = (description: string) => Type.Integer({ minimum: 0, description });
const Part = Type.Number({ minimum: 0, maximum: 1, description: "From 0 to 1." });
const ended = "Conversations that have ended.";

const Share = (n: string, share: string) =>
  Type.Object({ n: N(n), share: Nullable(Part, `${share}; null if \`n\` is 0.`) }, { description: share });
const Shares = (n: string, shares: string) =>
  Type.Object({ n: N(n), shares: Type.Record(Type.String(), Part, { description: shares }) }, { description: shares });

const FieldFigure = Type.Union(
  [
    Share("Analyses with a value.", "Share of those that are true"),
    Shares("Analyses with a value.", "Share of each word."),
    Type.Object({ n: N("Analyses with a value."), mean: Nullable(Type.Number(), "Their mean; null if `n` is 0.") }),
  ],
  { description: "`share` of a `bool`, `shares` of a `Literal`, `mean` of an `int` or `float`, optional or not." },
);

const VersionLatency = Type.Object({
  replies: N("Replies that were measured."),
  p50_ms: N("Milliseconds within which half of the replies began."),
  p95_ms: Nullable(N("Milliseconds within which 95 % of the replies began."), "Null for fewer than 20 replies."),
});

export const VersionFigures = Resource(
  "VersionFigures",
  {
    conversations: N("Conversations that began."),
    outcomes: Shares(ended, "Share of each status: COMPLETED, DISCONNECTED or FAILED."),
    call_outcomes: Shares("Calls that have ended.", `Share of each outcome: ${namesOf(CALL_OUTCOMES).join(", ")}.`),
    tool_failures: Share(ended, "Share of those in which a tool failed"),
    analysis: Type.Record(Type.String(), FieldFigure, {
      description: "Of each field of the analysis that is a boolean, a word of a literal, or a number.",
    }),
    call_seconds: Type.Object(
      { n: N("Calls that were answered."), mean: Nullable(Type.Number(), "Mean duration; null if `n` is 0.") },
      { description: "How long calls lasted." },
    ),
    text_latency: Nullable(VersionLatency, "To the first word of streamed text replies, accurate to 5 %."),
    call_latency: Nullable(VersionLatency, "In calls, from the end of the user's speech to the first audio."),
    replies: N("Replies from models."),
    ...IncludedCosts,
  },
  "What is counted of a version's conversations, without drafts and tests.",
);

export const Differences = Type.Array(
  Resource(
    "VersionDifference",
    {
      figure: Type.String({
        description:
          "Path of the figure, such as `outcomes.COMPLETED` or `analysis.solved`; `cost_usd_micros` is the mean of a conversation.",
        examples: ["outcomes.COMPLETED"],
      }),
      difference: Nullable(Type.Number(), "Of `b` from `a`; null if one of them has nothing to measure."),
      low: Nullable(
        Type.Number(),
        "With `high`, the 95 % confidence interval of the difference; null for too few conversations, percentiles and cost.",
      ),
      high: Nullable(Type.Number(), "The upper end."),
      verdict: Type.Optional(
        OneOf(["better", "worse", "same", "too_few"] as const, {
          description:
            "`too_few`: fewer than 30 of either. `same`: the interval includes 0. Absent for percentiles and cost, and where a difference is neither good nor bad by itself, such as of call time and of your analysis.",
        }),
      ),
    },
    "How a figure of two versions differs.",
  ),
  { description: "Every figure that both have." },
);
