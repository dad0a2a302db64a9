import { ALERT_METRICS, ALERT_WINDOW_MINUTES_MAX } from "@parley/shared/portable/alerts";
import { Type } from "@sinclair/typebox";
import { AgentId, At, Id, Resource } from "../resources.ts";
import { About, Maybe, Nullable, OneOf, Text } from "../types.ts";
import { Name } from "./fields.ts";

const Metric = OneOf(ALERT_METRICS, {
  description:
    "What is watched. `failed_share`: conversations that failed, of those that ended. `volume_drop`: how far fewer conversations began than in the same window a week earlier. `p95_latency_ms`: the time to the first word of a written reply, or the first audio of a spoken one, that 95 % of the replies keep. `cost`: what the replies cost, in US dollars. `tool_failed_share`: calls of tools that failed. `delivery_failed_share`: webhook deliveries that failed or wait to be repeated. Shares are from 0 to 1.",
});

export const Alert = Resource(
  "Alert",
  {
    alert_id: Id("ID of the alert.", "alr_01m7yyhwqf4k7n1r5u8x2z6c9e"),
    name: Type.String({ description: "Name to recognize it by.", examples: ["Tools fail"] }),
    enabled: Type.Boolean({ description: "Whether it is checked, each minute." }),
    metric: Metric,
    agent_id: Nullable(About(AgentId, "The only agent that counts."), "The only agent that counts; null for all."),
    window_minutes: Type.Integer({ description: "How many minutes before the check count." }),
    threshold: Type.Number({ description: "The condition is met from this value on.", examples: [0.2] }),
    minimum_count: Type.Integer({ description: "The condition is not met with fewer than this." }),
    is_open: Type.Boolean({ description: "Whether the condition was met at the last check." }),
    value: Nullable(Type.Number(), "The value at the last check; null if there was nothing to measure."),
    count: Nullable(Type.Integer(), "How many conversations, replies, calls or deliveries it is measured from."),
    opened_at: Nullable(At(), "When it was opened last."),
    resolved_at: Nullable(At(), "When it was resolved last; null while it is open."),
    checked_at: Nullable(At(), "When it was checked last."),
    created_at: At("When the alert was created."),
    updated_at: At("When the alert was last changed."),
  },
  "A condition of which you are told.",
);

const OfAgent = Text({ max: 200, description: "Only what this agent does counts. Not with `delivery_failed_share`." });
const WindowMinutes = Type.Integer({
  minimum: 1,
  maximum: ALERT_WINDOW_MINUTES_MAX,
  description: "How many minutes before each check count.",
  examples: [15],
});
const Threshold = Type.Number({
  exclusiveMinimum: 0,
  description: "The condition is met from this value on: a share from 0 to 1, milliseconds, or US dollars.",
  examples: [0.2],
});
const MinimumCount = Type.Integer({
  minimum: 0,
  maximum: 1_000_000,
  description:
    "The condition is not met with fewer conversations, replies, calls of tools or deliveries; for `volume_drop`, of a week earlier.",
});

export const CreateAlertBody = Type.Object(
  {
    name: Name,
    enabled: Maybe(Type.Boolean(), "Whether it is checked, each minute. Default: true."),
    metric: Metric,
    agent_id: Maybe(OfAgent),
    window_minutes: WindowMinutes,
    threshold: Threshold,
    minimum_count: Maybe(MinimumCount, `${MinimumCount.description} Default: 1.`),
  },
  { $id: "CreateAlertRequest", description: "A condition of which you want to be told." },
);

export const UpdateAlertBody = Type.Object(
  {
    name: Type.Optional(Name),
    enabled: Type.Optional(Type.Boolean({ description: "Whether it is checked, each minute." })),
    metric: Type.Optional(Metric),
    agent_id: Type.Optional(Nullable(OfAgent, "Only what this agent does counts; null for all agents.")),
    window_minutes: Type.Optional(WindowMinutes),
    threshold: Type.Optional(Threshold),
    minimum_count: Type.Optional(MinimumCount),
  },
  { $id: "UpdateAlertRequest", description: "The fields to change. Those that you leave out stay as they are." },
);

export const AlertList = Resource("AlertList", {
  alerts: Type.Array(Alert, { description: "All alerts, oldest first." }),
});
