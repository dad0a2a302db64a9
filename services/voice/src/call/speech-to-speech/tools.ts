import type {
  CallAction,
  HandOver,
  RunCallToolResponse,
  ToolRules as ToolRulesMessage,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Logger } from "@parley/shared/log";
import type { SpokenTurnEvent } from "../../speech/sts.ts";
import type { Leg } from "../../transport/leg.ts";
import type { ToolRules } from "../../turn/events.ts";
import type { Transferee } from "../hold-call.ts";
import { pressKeys } from "../tools/press-keys.ts";

export type ToolCall = Extract<SpokenTurnEvent, { type: "tool_call" }>;

/** Where in the transcript a tool is called: after this many messages of the call, and this many characters of the reply. */
export interface CallPlace {
  messages: number;
  offset: number;
}

/** @throws when the tool cannot be run now */
export type RunTool = (
  call: {
    toolCallId: string;
    name: string;
    input: Readonly<Record<string, unknown>>;
    /** Of a handoff: the version of the next agent that the call is ready for. */
    nextVersion?: number | undefined;
  },
  place: CallPlace,
  withinMs: number,
) => Promise<RunCallToolResponse>;

/** How long the conversation service takes, besides the tool. */
const ANSWER_MS = 15_000;

export function rulesOf(rules: ToolRulesMessage | undefined): ToolRules {
  const { timeoutMs = 0, before = null, delayed = [], sound = null } = rules ?? {};
  // The model is owed the answer to each call, so none is cancelled.
  return { timeoutMs: timeoutMs + ANSWER_MS, isCancellable: false, before, delayed, sound };
}

/** What follows the model's last words. */
type Next = { after: "hang_up" } | { after: "transfer" | "warm_transfer"; to: Omit<Transferee, "sendEnvoy"> };

/** What the model decided by calling a tool; null if the call continues as before. */
function nextOf(action: CallAction | undefined): Next | null {
  const decided = action?.action;
  if (decided?.$case === "endCall") return { after: "hang_up" };
  if (decided?.$case !== "transferCall") return null;
  const { phoneNumber, warm } = decided.value;
  return { after: warm ? "warm_transfer" : "transfer", to: { phoneNumber, warm } };
}

const TOOL_FAILED = "The tool does not work now. Tell the user.";

interface ToolAnswer {
  result: string;
  isError: boolean;
  next: Next | null;
  hasPressed: boolean;
  /** Another agent takes over; null if none does. */
  handed: HandOver | null;
}

/** Runs a tool, and presses the keys that it decides. A failure becomes an answer that the model can pass on to the user. Never rejects. */
export async function answerTool(
  run: RunTool,
  {
    toolCallId,
    name,
    arguments: given,
    nextVersion,
  }: ToolCall & { toolCallId: string; nextVersion: number | undefined },
  place: CallPlace,
  withinMs: number,
  { leg, log }: { leg: Leg; log: Logger },
): Promise<ToolAnswer> {
  const input = typeof given === "object" && given !== null ? (given as Record<string, unknown>) : {};
  try {
    const { result, isError, action } = await run({ toolCallId, name, input, nextVersion }, place, withinMs);
    const pressing = action?.action?.$case === "sendDtmf" ? action.action.value : null;
    const fault = pressing && (await pressKeys(leg, pressing.keys, log));
    const hasPressed = pressing !== null && fault === null;
    const handed = action?.action?.$case === "handOver" ? action.action.value : null;
    return { result: fault ?? result, isError: isError || fault !== null, next: nextOf(action), hasPressed, handed };
  } catch (err) {
    log.warn({ err, tool: name }, "a tool could not be run");
    return notRun(TOOL_FAILED);
  }
}

/** The answer to a call that was not made. */
export function notRun(result: string): ToolAnswer {
  return { result, isError: true, next: null, hasPressed: false, handed: null };
}
