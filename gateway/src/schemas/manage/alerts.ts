import { ALERT_METRICS } from "@parley/shared/domain/alerts";
import { Type } from "@sinclair/typebox";
import { AgentId, At, Id, Resource } from "../resources.ts";
import { About, Nullable, OneOf } from "../types.ts";

export const Metric = OneOf(ALERT_METRICS, {
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
