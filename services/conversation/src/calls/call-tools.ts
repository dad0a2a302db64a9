import { storable } from "../store/storable.ts";
import { CHAT_TOOLS, failed, type Tool, type Toolbox, type ToolConfig } from "../turn/ask/tools.ts";

/** The instructions for the model of a call, in addition to the agent's prompt. */
export const CALL_NOTE =
  "This is a spoken conversation. Answer in short sentences, the way people speak, without lists, headings, links or other markup.";

const DAY_MS = 86_400_000;
const DAYS_AHEAD_MAX = 365;
const REASON_MAX = 1_000;
const DATE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?$/;
const OFFSET = /(?:Z|[+-]\d{2}:?\d{2})$/i;

const transferCall: Tool = {
  isUsable: (config) => transferNumbersOf(config).length > 0,
  definition: (config) => {
    const numbers = transferNumbersOf(config);
    const isChosen = numbers.length > 1;
    return {
      name: "transfer_call",
      description: "Connects the user to a person. Use it when the user asks for one or you cannot help.",
      inputSchema: {
        type: "object",
        properties: {
          message: { type: "string", description: "The last words to the user." },
          ...(isChosen && { phone_number: { type: "string", description: "The number to connect.", enum: numbers } }),
        },
        ...(isChosen && { required: ["phone_number"] }),
        additionalProperties: false,
      },
    };
  },
  run: (input, config) => {
    const numbers = transferNumbersOf(config);
    const number = numbers.length === 1 ? numbers[0] : input?.phone_number;
    // A caller may have talked the model into another number.
    if (typeof number !== "string" || !numbers.includes(number))
      return failed(`"phone_number" must be one of ${numbers.join(", ")}.`);
    const action = { type: "transfer_call" as const, phoneNumber: number };
    return { result: "The user is connected after this reply.", isError: false, ends: true, action };
  },
};

const scheduleCall: Tool = {
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
  run: (input, config, now) => {
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

/**
 * The tools that the model of a call can use. `background_audio` and `user_idle` are settings for the voice runtime.
 */
export const CALL_TOOLS: Toolbox = { ...CHAT_TOOLS, transfer_call: transferCall, schedule_call: scheduleCall };

/** The numbers that calls may be transferred to; none for an agent of an earlier release that left the number to the model. */
function transferNumbersOf({ transfer_phone_number: given }: ToolConfig): string[] {
  const numbers = Array.isArray(given) ? given : [given];
  return numbers.filter((number): number is string => typeof number === "string");
}

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
