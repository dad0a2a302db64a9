import type { GetCallSetupResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { LINES, type Lines, SILENCE_MS, type TurnSettings } from "../turn/settings.ts";

type Setup = Pick<GetCallSetupResponse, "tools" | "callSettings">;
type Greeting = Pick<GetCallSetupResponse, "greeting" | "isRejected">;

/** How an agent takes turns in a call. */
export function turnSettings(
  { tools, callSettings }: Setup,
  model: Pick<TurnSettings, "isSpeechToSpeech" | "endsTurns" | "finalizeWaitMs">,
): TurnSettings {
  const idle = configOf(tools, "user_idle");
  return {
    ...model,
    silenceMs: numberOf(callSettings?.end_of_turn_silence_ms, SILENCE_MS),
    idle: idle && {
      afterMs: numberOf(idle.timeout_seconds, IDLE_SECONDS) * 1_000,
      remindersMax: numberOf(idle.max_reminders, REMINDERS_MAX),
    },
  };
}

/** What the agent says without a model. */
export function linesOf({ tools, callSettings, greeting, isRejected }: Setup & Greeting): Lines {
  return {
    ...LINES,
    reminder: textOf(configOf(tools, "user_idle")?.message, LINES.reminder),
    apology: textOf(callSettings?.apology, LINES.apology),
    voicemail: textOf(callSettings?.voicemail_message, LINES.voicemail),
    rejection: isRejected ? greeting : LINES.rejection,
  };
}

/** The sound behind the agent's voice: `{}` for the usual one, null for none. */
export function backgroundSettings({ tools }: Setup): Readonly<Record<string, unknown>> | null {
  return configOf(tools, "background_audio");
}

function textOf(given: unknown, fallback: string): string {
  return typeof given === "string" && given.trim() !== "" ? given : fallback;
}

/** The settings of `user_idle: true`. */
const IDLE_SECONDS = 15;
const REMINDERS_MAX = 2;

/** Null when the agent does not have the tool. */
function configOf(tools: Setup["tools"], name: string): Readonly<Record<string, unknown>> | null {
  const given = tools?.[name];
  if (given === true) return {};
  return typeof given === "object" && given !== null ? (given as Record<string, unknown>) : null;
}

function numberOf(given: unknown, fallback: number): number {
  return typeof given === "number" ? given : fallback;
}
