import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ModelName, TokenUsage } from "../../model/port.ts";
import type { ReplyKnowledge } from "../../store/reply-knowledge.ts";
import type { ToolCallRow } from "../../store/turns/kept-tool-calls.ts";
import type { ClientCall } from "../../tools/client-calls.ts";

/** A turn's reply. It grows while the model speaks, and is stored as it is when the turn ends. */
export interface Reply {
  text: string;
  /** The agent and the model that spoke last. */
  agent: AgentRuntime;
  by: ModelName;
  /** The sum over all calls of the turn. */
  usage: TokenUsage;
  /** The cost of all calls so far, in millionths of a US dollar; null while one is in progress, or if that of one is unknown. */
  costUsdMicros: number | null;
  /** When the turn began, in `performance.now()` time, as `firstTextAt`. */
  startedAt: number;
  firstTextAt: number | null;
  /** Tool calls that were over at once. The ledger has the others. */
  toolCalls: ToolCallRow[];
  /** Calls for the client to make. */
  clientCalls: ClientCall[];
  /** What its models were given of knowledge bases; null for nothing. */
  knowledge: ReplyKnowledge | null;
  /** Set by the model in this turn: a BCP 47 tag. */
  language: string | null;
  /** Whether the conversation ends with this reply. */
  ends: boolean;
  /** Whether the conversation is rejected: these are words of the agent's start webhook. */
  isRejected: boolean;
  /** Whether the model need not say anything, because a tool has answered for it. */
  mayBeSilent: boolean;
  /** Whether the turn came to its end, and the client has all of the reply. */
  isWhole: boolean;
  /** Why the model's answer is not whole, in its provider's words; null if it is, or if the reply broke off. */
  partialReason: string | null;
}

export function emptyReply(agent: AgentRuntime, { provider, name }: ModelName): Reply {
  return {
    text: "",
    agent,
    by: { provider, name },
    usage: { inputTokens: undefined, outputTokens: undefined },
    costUsdMicros: 0,
    startedAt: performance.now(),
    firstTextAt: null,
    toolCalls: [],
    clientCalls: [],
    knowledge: null,
    language: null,
    ends: false,
    isRejected: false,
    mayBeSilent: false,
    isWhole: false,
    partialReason: null,
  };
}

/** Whether the turn ends because the model waits for results of the client, which come with its next request. */
export function waitsForClient({ clientCalls }: Reply): boolean {
  return clientCalls.some(({ wait }) => wait);
}
