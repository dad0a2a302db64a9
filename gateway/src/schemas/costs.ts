import { Type } from "@sinclair/typebox";
import { OneOf } from "./types.ts";

/** The query of a route whose response can have costs. */
export const IncludeCost = Type.Optional(
  OneOf(["cost"] as const, { description: "`cost`: show what the replies cost too." }),
);

/** The fields of a response that sum the costs of replies. */
export const IncludedCosts = {
  cost_usd_micros: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "Only with `include=cost`: cost of the replies whose cost is known, in millionths of a US dollar.",
      examples: [12_720],
    }),
  ),
  unpriced_replies: Type.Optional(
    Type.Integer({
      minimum: 0,
      description: "Only with `include=cost`: replies whose cost is unknown, which is not in the sum.",
      examples: [0],
    }),
  ),
};

/** Sums over the model's replies in one conversation. */
export function RepliesUsage(description: string) {
  return Type.Object(
    {
      replies: Type.Integer({ description: "Replies from the model." }),
      input_tokens: Type.Integer({ description: "Input tokens." }),
      output_tokens: Type.Integer({ description: "Output tokens." }),
      mean_first_word_ms: Type.Integer({ description: "Mean milliseconds until the first word of a streamed reply." }),
      mean_total_ms: Type.Integer({ description: "Mean milliseconds until the end of a reply." }),
      ...IncludedCosts,
    },
    { description },
  );
}
