import { Type } from "@sinclair/typebox";
import { Resource } from "../resources.ts";
import { Maybe, Nullable, TimeZone } from "../types.ts";
import { TierFields } from "./fields.ts";

export const UpdateSettingsBody = Type.Object(
  {
    retention_days: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 3650,
        description: "Days for which conversations are kept. Older ones are permanently deleted.",
        examples: [90],
      }),
    ),
    timezone: Maybe(TimeZone, "IANA time zone of agents that have none of their own. Null: UTC."),
  },
  { $id: "UpdateSettingsRequest", description: "The settings to change. Those that you leave out stay as they are." },
);

export const Settings = Resource("Settings", {
  retention_days: Type.Integer({ description: "Days for which conversations are kept.", examples: [90] }),
  timezone: Nullable(TimeZone, "IANA time zone of agents that have none of their own. Null: UTC."),
  ...TierFields,
  session_rate_limit_per_minute: Type.Integer({
    description: "Requests per minute of each session, on any tier.",
    examples: [300],
  }),
});

export const CallPolicy = Resource("CallPolicy", {
  countries: Type.Array(Type.String(), {
    description: "ISO 3166-1 codes of the countries that agents may call. Default: those of the owner's numbers.",
    examples: [["US"]],
  }),
  calls_per_day: Type.Integer({ description: "Calls and transfers in a UTC day.", examples: [200] }),
  minutes_per_day: Type.Integer({ description: "Minutes of these calls.", examples: [300] }),
});
