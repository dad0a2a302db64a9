import type { Clock } from "@parley/shared/clock";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import type { Logger } from "@parley/shared/log";
import type { ModelTool, ToolCall } from "../model/port.ts";
import type { AgentOnPath } from "../store/agent-path.ts";
import type { ScheduledCall } from "../store/conversations.ts";
import type { ReplyKnowledge } from "../store/reply-knowledge.ts";
import type { ToolKind } from "../store/turns/kept-tool-calls.ts";

/** Where the conversation is held. */
export type ToolChannel = "chat" | "message" | "call";

/** A tool that an agent's model can call. */
export interface Tool {
  kind: ToolKind;
  definition: ModelTool;
  /** Of a tool that takes time; a built-in one answers at once and has none. */
  rules?: ToolRules;
  /** Of a tool whose calls the client makes. */
  client?: ClientRules;
  /**
   * Makes the call. For a tool with rules, the ledger has the call before it is made, and its arguments fit the definition's schema.
   * @returns the outcome at once only if the tool has no rules
   * @throws anything: the model is told that the call failed
   */
  run(call: ToolCall, context: ToolContext): ToolOutcome | Promise<ToolOutcome>;
  /** What a call comes to whose answer a test gives. By default the model is told the answer. */
  answered?(call: ToolCall, context: ToolContext, answer: GivenAnswer): ToolOutcome;
  /** The mock of the conversation's test that answers the call; absent for none. */
  mock?: number;
}

/** An answer that a test gives in place of a tool's server or client. */
interface GivenAnswer {
  text: string;
  /** Whether it is what a model was told before, rather than what the server answers. */
  isRecorded: boolean;
}

/** How calls of a tool that takes time are made. */
export interface ToolRules {
  speech: ToolSpeech;
  /** Whether a call goes on when the user interrupts the reply. */
  interruption: "continue" | "cancel";
  /** Whether the reply waits for the result. A background result is told to the model later. */
  run: "wait" | "background";
  /** Whether a call whose process died may be made once more, with the same id. */
  mayRepeat: boolean;
  /** Limit for a call with all its attempts. Afterwards the model is told that it took too long. */
  timeoutMs: number;
}

/** How calls that the client makes are handed over to it. */
export interface ClientRules {
  /** Whether the model waits for the result. */
  wait: boolean;
  /** What the client gets: what the model gave, and the values that it does not see. A text says why there is nothing to be called. */
  argumentsOf(input: Readonly<Record<string, unknown>>, variables: ToolContext["variables"]): object | string;
}

/** What a caller hears while the tool runs. */
interface ToolSpeech {
  /** `auto`: what the model says with the call; `off`: nothing; or a text, unless the model says something itself. */
  before: "auto" | "off" | { text: string };
  /** Said while the call still runs, in order. */
  delayed: readonly { afterMs: number; text: string }[];
  /** Heard while the reply waits and nobody speaks; absent for nothing. */
  sound?: string | undefined;
}

/** The conversation that a call is made for. */
export interface ToolContext {
  ownerId: string;
  conversationId: string;
  /** `tcl_…`, unique in the conversation and the same when the call is repeated. */
  toolCallId: string;
  channel: ToolChannel;
  /** Whether the user is at the other end of a telephone line. */
  isTelephone?: boolean | undefined;
  /** The dynamic variables at the moment of the call, by canonical name. */
  variables: Readonly<Record<string, VariableValue>>;
  /** Aborts when the call's time is up, and when the user interrupts a tool that is cancelled then. */
  signal: AbortSignal;
  /** Told how many requests the call has made so far, 0 before the first one; by default a call counts as one. */
  attempted(attempts: number): void;
  clock: Clock;
  log: Logger;
}

/** The result of a call: the text for the model, and the changes to the conversation. */
export interface ToolOutcome {
  /** At most 32 KiB, without secrets. */
  result: string;
  isError: boolean;
  /** Whether it is text from outside; by default, if the tool is not built in. */
  isOutside?: boolean;
  /** The status of an HTTP answer, if there was one. */
  status?: number | undefined;
  /** What else people should know of the call. */
  note?: string;
  /** Values for dynamic variables, by canonical name. */
  assignments?: Readonly<Record<string, VariableValue>> | undefined;
  /** The conversation continues in it: a BCP 47 tag. */
  language?: string;
  /** The conversation ends with this reply. */
  ends?: boolean;
  /** The model need not say anything after this, because something else answers for it. */
  mayBeSilent?: boolean;
  /** What the runtime of a call must do. */
  action?: CallAction;
  /** The agent that takes over the conversation, once this has been said. */
  takesOver?: AgentOnPath;
  message?: string;
  /** What the model was given of the agent's knowledge bases. */
  knowledge?: ReplyKnowledge;
}

/** Something to do besides talking, decided by the model of a call. */
export type CallAction =
  | { type: "end_call" }
  | { type: "transfer_call"; phoneNumber: string; warm?: WarmTransfer | undefined }
  | { type: "send_dtmf"; keys: string }
  | { type: "set_language"; language: string }
  | { type: "schedule_call"; call: ScheduledCall }
  | ({
      type: "hand_over";
      agentId: string;
      voiceAgentId: string;
      voiceAgentVersion: number | null;
    } & Partial<TakenOver>);

/** What a runtime that asks the model itself does when an agent takes over. */
interface TakenOver {
  /** Sequence of the first message that the agent learns of. */
  contextFrom: number;
  /** Said by the agent that hands over; may be empty. */
  message: string;
  /** Whether the one that takes over says its greeting. */
  greets: boolean;
}

/** The agent calls a person, tells them what it is about, and connects the user if they take the call. */
export interface WarmTransfer {
  briefing: string;
  holdSound: string;
  acceptSeconds: number;
}

export function failed(result: string): ToolOutcome {
  return { result, isError: true };
}
