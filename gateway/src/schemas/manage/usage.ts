import { Type } from "@sinclair/typebox";
import { IncludeCost, IncludedCosts } from "../costs.ts";
import { Resource } from "../resources.ts";
import { PeriodFields } from "./fields.ts";

export const UsageQuery = Type.Object({ ...PeriodFields, include: IncludeCost });

const UsageFigures = {
  conversations: Type.Integer({ minimum: 0, description: "Conversations that began." }),
  replies: Type.Integer({ minimum: 0, description: "Replies from models." }),
  input_tokens: Type.Integer({ minimum: 0, description: "Input tokens." }),
  output_tokens: Type.Integer({ minimum: 0, description: "Output tokens." }),
  ...IncludedCosts,
};

export const Usage = Resource("Usage", {
  days: Type.Array(
    Resource("UsageDay", {
      day: Type.String({ format: "date", description: "The day, in UTC.", examples: ["2026-01-31"] }),
      ...UsageFigures,
    }),
    { description: "Every requested day, oldest first." },
  ),
  stored_bytes: Type.Integer({
    minimum: 0,
    description:
      "Bytes of all conversations that are stored now, with those on drafts. When they reach `stored_bytes_max`, no further conversations and chat turns begin.",
  }),
  stored_bytes_max: Type.Integer({ minimum: 1, description: "Limit for the bytes of all stored conversations." }),
  total: Resource("UsageTotal", UsageFigures, "Sums over all days."),
});
