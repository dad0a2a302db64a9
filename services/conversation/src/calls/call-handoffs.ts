import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Handoff } from "@parley/proto/parley/agent/v1/tool.ts";
import { ServiceError } from "@parley/shared/errors";
import { callerOf } from "../agents/choose-version.ts";
import type { ConversationContext } from "../context.ts";
import { agentPathOf, heldVersion, keptOf, versionOf } from "../store/agent-path.ts";
import type { ConversationRow } from "../store/conversations.ts";
import { cannotTakeOver, contextFrom, handoffRefusal, handoffTool } from "../tools/handoff-tool.ts";
import { failed, type ToolContext, type ToolOutcome } from "../tools/tool.ts";
import type { ToolSource } from "../tools/toolbox.ts";
import { filledGreeting, filledPrompt } from "../turn/ask/filled-texts.ts";

/**
 * The handoffs of a call whose runtime asks the model itself. A model that hears and speaks hands over to another such model: the runtime
 * takes turns in one way until the call ends.
 * @param replySeq sequence of the reply in which the model calls the tool
 * @param nextVersion the version of the next agent that the runtime is ready for, unless that agent has held the call before
 */
export function callHandoffs(
  ctx: Pick<ConversationContext, "agents">,
  call: ConversationRow,
  replySeq: number,
  nextVersion?: number | undefined,
): ToolSource {
  const path = agentPathOf(call);
  const ofTurn = path.slice(1).filter(({ fromSeq }) => fromSeq === replySeq).length;
  const seq = Math.max(1, replySeq - 1);

  function nextOf(agentId: string): Promise<AgentRuntime> {
    const { ownerId } = call;
    if (path.some((held) => held.agentId === agentId)) return ctx.agents.get(ownerId, agentId, keptOf(call, agentId));
    return ctx.agents.choose(ownerId, agentId, { agentVersion: nextVersion, caller: callerOf(call) });
  }

  async function handOver(handoff: Handoff, { variables }: ToolContext): Promise<ToolOutcome> {
    const refused = handoffRefusal({ ofTurn, ofConversation: path.length - 1 });
    if (refused !== null) return failed(refused);
    const { agentId, message = "", keepVoice, greet } = handoff;
    try {
      const agent = await nextOf(agentId);
      if (!agent.sts)
        throw new ServiceError(
          "condition",
          "it has no model that hears and speaks, as this call's has, and a call keeps its kind",
        );
      // Neither may be too long once it is filled.
      filledPrompt(agent, variables);
      const greets = greet && filledGreeting(agent, variables) !== "";
      const voiceAgentId = keepVoice ? (path.at(-1)?.voiceAgentId ?? agentId) : agentId;
      const voiceAgentVersion = voiceAgentId === agentId ? versionOf(agent) : heldVersion(path, voiceAgentId);
      const from = contextFrom(handoff.context, seq);
      return {
        result: "The other agent answers the user from now on.",
        isError: false,
        takesOver: { agentId, agentVersion: versionOf(agent), fromSeq: replySeq, contextFrom: from, voiceAgentId },
        message,
        action: { type: "hand_over", agentId, voiceAgentId, voiceAgentVersion, contextFrom: from, message, greets },
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
