import type { Handoff } from "@parley/proto/parley/agent/v1/tool.ts";
import { ServiceError } from "@parley/shared/errors";
import type { ConversationContext } from "../context.ts";
import { agentPathOf } from "../store/agent-path.ts";
import type { ConversationRow } from "../store/conversations.ts";
import { cannotTakeOver, contextFrom, handoffRefusal, handoffTool } from "../tools/handoff-tool.ts";
import { failed, type ToolContext, type ToolOutcome } from "../tools/tool.ts";
import type { ToolSource } from "../tools/toolbox.ts";
import { filledGreeting, filledPrompt } from "../turn/ask/filled-texts.ts";

/**
 * The handoffs of a call whose runtime asks the model itself. A model that hears and speaks hands over to another such model: the runtime
 * takes turns in one way until the call ends.
 * @param replySeq sequence of the reply in which the model calls the tool
 */
export function callHandoffs(
  ctx: Pick<ConversationContext, "getAgent">,
  call: ConversationRow,
  replySeq: number,
): ToolSource {
  const path = agentPathOf(call);
  const ofTurn = path.slice(1).filter(({ fromSeq }) => fromSeq === replySeq).length;
  const seq = Math.max(1, replySeq - 1);

  async function handOver(handoff: Handoff, { ownerId, variables }: ToolContext): Promise<ToolOutcome> {
    const refused = handoffRefusal({ ofTurn, ofConversation: path.length - 1 });
    if (refused !== null) return failed(refused);
    const { agentId, message = "", keepVoice, greet } = handoff;
    try {
      const agent = await ctx.getAgent(ownerId, agentId);
      if (!agent.sts)
        throw new ServiceError(
          "condition",
          "it has no model that hears and speaks, as this call's has, and a call keeps its kind",
        );
      // Neither may be too long once it is filled.
      filledPrompt(agent, variables);
      const greets = greet && filledGreeting(agent, variables) !== "";
      const voiceAgentId = keepVoice ? (path.at(-1)?.voiceAgentId ?? agentId) : agentId;
      const from = contextFrom(handoff.context, seq);
      return {
        result: "The other agent answers the user from now on.",
        isError: false,
        takesOver: { agentId, agentVersion: null, fromSeq: replySeq, contextFrom: from, voiceAgentId },
        message,
        action: { type: "hand_over", agentId, voiceAgentId, contextFrom: from, message, greets },
      };
    } catch (error) {
      return failed(cannotTakeOver(error));
    }
  }

  return (agent) =>
    agent.handoffs.map((handoff) =>
      handoffTool(handoff, async (context) => (agent.sts ? handOver(handoff, context) : failed(UNAVAILABLE))),
    );
}

const UNAVAILABLE = "Handing over is not available in this kind of call. Answer the user yourself.";
