import { namesOf, TIERS } from "@parley/shared/domain/api-names";
import { Type } from "@sinclair/typebox";
import { Resource } from "../resources.ts";
import { OneOf, Text } from "../types.ts";

/** The response to a change that leaves nothing to show. */
export const Done = Resource("Done", {
  message: Type.String({ description: "What was done.", examples: ["Signed out"] }),
});

export const Name = Text({ min: 1, max: 100, description: "Name to recognize it by.", example: "Production" });

export const TierFields = {
  tier: OneOf(namesOf(TIERS), { description: "Tier, which the operator sets." }),
  rate_limit_per_minute: Type.Integer({ description: "Requests per minute of each key.", examples: [500] }),
};

export const Day = (description: string) =>
  Text({
    pattern: "^(?!0000)\\d{4}-\\d{2}-\\d{2}$",
    form: "be a day such as 2026-01-31",
    description,
    example: "2026-01-31",
  });

/** The days of a report. */
export const PeriodFields = {
  from: Type.Optional(Day("First day, in UTC. Default: 29 days before `to`.")),
  to: Type.Optional(Day("Last day, in UTC. Default: today.")),
};
