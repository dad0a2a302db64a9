import type { Channel } from "@parley/shared/domain/channels";
import type { VariableValue } from "@parley/shared/domain/variables/values";

/** A conversation as its system variables tell of it. */
export interface Circumstances {
  conversationId: string;
  agentId: string;
  channel: Channel;
  direction: "inbound" | "outbound";
  /** Numbers in E.164 form; empty where there is none. */
  caller: string;
  called: string;
  /** IANA. */
  timezone: string;
  /** When a call's first word was heard; null before, and for what is no call. */
  beganAt: Date | null;
}

const DAYS = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"];
const MONTHS = [
  ...["January", "February", "March", "April", "May", "June"],
  ...["July", "August", "September", "October", "November", "December"],
];

/** The variables that Parley sets, by canonical name (docs/live.md#system-variables). */
export function systemVariables(of: Circumstances, now: Date): Record<string, VariableValue> {
  const local = Temporal.Instant.fromEpochMilliseconds(now.getTime()).toZonedDateTimeISO(of.timezone);
  const seconds = of.beganAt === null ? 0 : Math.floor((now.getTime() - of.beganAt.getTime()) / 1_000);
  return {
    system_time: local.toString({ smallestUnit: "second", timeZoneName: "never" }),
    system_date: `${DAYS[local.dayOfWeek - 1]}, ${local.day} ${MONTHS[local.month - 1]} ${local.year}`,
    system_timezone: of.timezone,
    system_caller: of.caller,
    system_called: of.called,
    system_conversation_id: of.conversationId,
    system_channel: of.channel,
    system_direction: of.direction,
    system_agent_id: of.agentId,
    system_call_seconds: Math.max(0, seconds),
  };
}
