import { CONVERSATION_TYPES, namesOf } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { IncludeCost, IncludedCosts } from "../costs.ts";
import { Id, Resource } from "../resources.ts";
import { Count, Nullable, OneOf, Text } from "../types.ts";
import { PeriodFields } from "./fields.ts";

export const StatisticsQuery = Type.Object({
  ...PeriodFields,
  agent_id: Type.Optional(Text({ max: 200, description: "Only conversations of this agent." })),
  include: IncludeCost,
});

const modelFigures = {
  replies: Count("Replies from models."),
  input_tokens: Count("Input tokens."),
  output_tokens: Count("Output tokens."),
  ...IncludedCosts,
};
const figures = {
  conversations: Count("Conversations that began, including those that have not ended."),
  completed: Count("Conversations that ended as COMPLETED."),
  disconnected: Count("Conversations that ended as DISCONNECTED."),
  failed: Count("Conversations that ended as FAILED."),
  call_seconds: Type.Number({ minimum: 0, description: "Seconds that the calls among them lasted." }),
  ...modelFigures,
};
const Latency = Resource(
  "Latency",
  {
    replies: Count("Replies that were measured."),
    p50_ms: Count("Milliseconds within which half of the replies began."),
    p95_ms: Nullable(
      Type.Integer({ minimum: 0 }),
      "Milliseconds within which 95 % of the replies began; null for fewer than 20, too few to tell.",
    ),
  },
  "Time until replies began, accurate to 5 %.",
);
const latencies = {
  text_latency: Nullable(Latency, "To the first word of streamed text replies; null if there were none."),
  call_latency: Nullable(
    Latency,
    "In calls that measured it, from the end of the user's speech to the first audio; null if there were none.",
  ),
};

export const Statistics = Resource("Statistics", {
  days: Type.Array(
    Resource("StatisticsDay", {
      day: Type.String({ format: "date", description: "The day, in UTC.", examples: ["2026-01-31"] }),
      channels: Type.Array(
        Resource("StatisticsChannel", {
          conversation_type: OneOf(namesOf(CONVERSATION_TYPES), { description: "The channel." }),
          ...figures,
        }),
        { description: "The channels that had conversations." },
      ),
      ...latencies,
    }),
    { description: "Every requested day, oldest first. A conversation counts on the day it began." },
  ),
  total: Resource("StatisticsTotal", { ...figures, ...latencies }, "All days and channels together."),
  agents: Type.Array(
    Resource("StatisticsAgent", { agent_id: Id("ID of the agent.", "agt_01m7yyhwdzeb28n9gms8rr2qyg"), ...figures }),
    {
      description:
        "The 100 agents with the most conversations, deleted ones included. A day names 1,000 agents with their channels and models; what is beyond counts as `OTHER`.",
    },
  ),
  models: Type.Array(
    Resource("StatisticsModel", {
      provider_name: Type.String({ description: "Provider of the model.", examples: ["OPENAI"] }),
      model_name: Type.String({ description: "Name of the model.", examples: ["gpt-5-mini"] }),
      ...modelFigures,
    }),
    { description: "The 100 models with the most replies; `OTHER` has those beyond what a day names." },
  ),
});
