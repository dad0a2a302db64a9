import { storable } from "../../store/storable.ts";
import { failed } from "../tool.ts";
import type { BuiltinTool, ToolConfig } from "./builtin.ts";

const DAY_MS = 86_400_000;
const DAYS_AHEAD_MAX = 365;
const REASON_MAX = 1_000;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?$/;
const OFFSET = /(?:Z|[+-]\d{2}:?\d{2})$/i;

export const scheduleCall: BuiltinTool = {
  definition: (config) => ({
    name: "schedule_call",
    description: `Notes that the user wants to be called again. Times are in ${zoneOf(config)}, at most ${daysAheadOf(config)} days ahead.`,
    inputSchema: {
      type: "object",
      properties: {
        time: { type: "string", description: "When, as ISO 8601: 2026-05-31T14:30." },
        reason: { type: "string", description: "What it is about." },
      },
      required: ["time"],
      additionalProperties: false,
    },
  }),
  run: (input, config, { clock }) => {
    const now = clock.now();
    const at = timeOf(input?.time, zoneOf(config), now);
    if (!at) return failed('"time" must be a date and a time in ISO 8601, such as 2026-05-31T14:30.');
    const days = daysAheadOf(config);
    if (at <= now || at.getTime() > now.getTime() + days * DAY_MS) {
      return failed(`"time" must be within the next ${days} days. It is ${now.toISOString()} now.`);
    }
    const reason = typeof input?.reason === "string" ? storable(input.reason).slice(0, REASON_MAX) : "";
    const call = { at: at.toISOString(), ...(reason !== "" && { reason }) };
    const result = `A call is scheduled for ${call.at}. Tell the user.`;
    return { result, isError: false, action: { type: "schedule_call", call } };
  },
};

function zoneOf({ timezone }: ToolConfig): string {
  return typeof timezone === "string" ? timezone : "UTC";
}

function daysAheadOf({ max_days_ahead: days }: ToolConfig): number {
  return typeof days === "number" ? days : DAYS_AHEAD_MAX;
}

/**
 * Parses a time with an offset, or a local time in a time zone; null for anything else. A local time that clocks skip is as much later as
 * they skip. One that they show twice is the first that is still to come.
 */
function timeOf(given: unknown, zone: string, now: Date): Date | null {
  const text = typeof given === "string" ? given.trim() : "";
  if (!DATE_TIME.test(text.replace(OFFSET, ""))) return null;
  try {
    if (OFFSET.test(text)) return new Date(Temporal.Instant.from(text).epochMilliseconds);
    const local = Temporal.PlainDateTime.from(text);
    const at = (disambiguation: "compatible" | "later") =>
      new Date(local.toZonedDateTime(zone, { disambiguation }).epochMilliseconds);
    const first = at("compatible");
    return first > now ? first : at("later");
  } catch {
    return null;
  }
}
