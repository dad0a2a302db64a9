import { type Handoff, HandoffContext } from "@parley/proto/parley/agent/v1/tool.ts";
import { ServiceError } from "@parley/shared/errors";
import { isGone } from "../agents/agents.ts";
import type { Tool, ToolContext, ToolOutcome } from "./tool.ts";

/** The tool with which an agent's model hands the conversation over to another agent. */
export function handoffTool(
  { agentId, when }: Handoff,
  handOver: (context: ToolContext) => Promise<ToolOutcome>,
): Tool {
  return {
    kind: "handoff",
    definition: {
      name: `hand_over_to_${agentId}`,
      description: `Hands the conversation over to another agent, which answers the user in your place. Use it when: ${when}`,
      inputSchema: { type: "object", properties: {} },
    },
    rules: {
      speech: { before: "auto", delayed: [] },
      interruption: "continue",
      run: "wait",
      // Of a process that died, the handoff is not stored: it has had no effect.
      mayRepeat: true,
      timeoutMs: 20_000,
    },
    run: (_, context) => handOver(context),
  };
}

const OF_TURN_MAX = 3;
const OF_CONVERSATION_MAX = 10;
/** Messages with the context `last_messages`, the user's newest one among them. */
const LAST_MESSAGES = 10;
const STAYS = "The conversation stays with you: answer the user yourself.";

/** Why a conversation is not handed over once more, for the model; null if it may be. */
export function handoffRefusal(handoffs: { ofTurn: number; ofConversation: number }): string | null {
  if (handoffs.ofTurn >= OF_TURN_MAX)
    return `The conversation was handed over ${OF_TURN_MAX} times since the user spoke. ${STAYS}`;
  if (handoffs.ofConversation < OF_CONVERSATION_MAX) return null;
  return `The conversation was handed over ${OF_CONVERSATION_MAX} times, which is the most. ${STAYS}`;
}

/** Sequence of the first message that the next agent learns of. @param seq of the user's newest message */
export function contextFrom(context: HandoffContext, seq: number): number {
  if (context === HandoffContext.HANDOFF_CONTEXT_NONE) return seq;
  return context === HandoffContext.HANDOFF_CONTEXT_LAST_MESSAGES ? Math.max(1, seq + 1 - LAST_MESSAGES) : 1;
}

/** Why an agent cannot take over, for the model. @throws an error that says nothing about the agent */
export function cannotTakeOver(error: unknown): string {
  if (isGone(error)) return `This agent does not exist anymore. ${STAYS}`;
  if (error instanceof ServiceError && (error.kind === "condition" || error.kind === "conflict"))
    return `This agent cannot take over: ${error.detail}. ${STAYS}`;
  throw error;
}
