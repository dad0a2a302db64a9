import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Handoff } from "@parley/proto/parley/agent/v1/tool.ts";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import type { Logger } from "@parley/shared/log";
import { isGone } from "../agents/agents.ts";
import { successorOf } from "../agents/successor.ts";
import type { ConversationContext } from "../context.ts";
import { type TurnKnowledge, turnKnowledge } from "../knowledge/agent-knowledge.ts";
import type { Model } from "../model/port.ts";
import { llmOf } from "../model/select.ts";
import { systemValues } from "../start/system-values.ts";
import { type AgentOnPath, heldVersion, storeTakeOver, versionOf } from "../store/agent-path.ts";
import { cannotTakeOver, contextFrom, handoffRefusal, handoffTool } from "../tools/handoff-tool.ts";
import type { TestTools } from "../tools/test-tools.ts";
import { failed, type ToolChannel, type ToolContext, type ToolOutcome } from "../tools/tool.ts";
import { type Toolbox, toolboxOf } from "../tools/toolbox.ts";
import type { AcceptedTurn } from "./accept-turn.ts";
import { filledGreeting, filledPrompt } from "./ask/filled-texts.ts";
import type { PreparedTurn } from "./prepare-turn.ts";

/** The agent that answers, with its model and its tools. */
export interface Speaker {
  agent: AgentRuntime;
  model: Model;
  toolbox: Toolbox;
  /** Its system variables, as of this turn. */
  system: Readonly<Record<string, VariableValue>>;
  onPath: AgentOnPath;
  /** Of the agent with whose voice it speaks in a call; null for a draft. */
  voiceVersion: number | null;
  knowledge: TurnKnowledge;
}

/** A handoff whose words are to be said. */
export interface Handed {
  /** Said by the agent that hands over; may be empty. */
  message: string;
  /** Said by the one that takes over; may be empty. */
  greeting: string;
  /** The next agent answers from now on. */
  begin(): void;
}

/** Who answers in a turn. */
export interface Handoffs {
  speaker(): Speaker;
  /** Takes over what a tool has decided. */
  apply(outcome: ToolOutcome): void;
  /** The handoff that was decided since the last time; null if none was. */
  take(): Handed | null;
}

/**
 * Begins a turn with the agent to which the conversation was handed over last. If that one was deleted, the first agent takes over
 * again.
 * @throws ServiceError condition when that agent has no model that can be called
 */
export async function turnHandoffs(
  ctx: Pick<ConversationContext, "db" | "clock" | "agents" | "selectModel" | "toolSources" | "knowledge">,
  accepted: AcceptedTurn,
  first: PreparedTurn,
  { channel, message, test }: { channel: ToolChannel; message: string | null; test: TestTools | null },
  log: Logger,
): Promise<Handoffs> {
  const { ownerId, seq, replySeq } = accepted;
  const firstAgain = firstOnPath(first.agent, replySeq);
  const path = [...(accepted.agentPath ?? [firstAgain])];
  let ofConversation = path.length - 1;
  let ofTurn = 0;
  /** The handoff in progress: one of a round at most. */
  let underWay: { speaker: Speaker; handed: Omit<Handed, "begin"> } | "loading" | null = null;
  let decided: AgentOnPath | null = null;
  let speaker = await newest();

  /** @throws ServiceError not_found, forbidden or condition */
  async function speakerOf(onPath: AgentOnPath): Promise<Speaker> {
    return speakerWith(onPath, await preparedOf(onPath));
  }

  /** @throws ServiceError condition */
  async function speakerWith(onPath: AgentOnPath, { agent, model }: PreparedTurn): Promise<Speaker> {
    const handoffs = agent.handoffs.map((handoff) => handoffTool(handoff, (context) => handOver(handoff, context)));
    const [system, knowledge] = await Promise.all([
      systemValues(ctx, accepted, agent),
      turnKnowledge(ctx.knowledge, { ownerId, agent, channel, message }, log),
    ]);
    const toolbox = toolboxOf(agent, channel, [() => knowledge.tools, () => handoffs, ...ctx.toolSources]);
    const voiceVersion = heldVersion([...path, onPath], onPath.voiceAgentId);
    return { agent, model, system, onPath, voiceVersion, knowledge, toolbox: test?.(toolbox) ?? toolbox };
  }

  async function preparedOf({ agentId, agentVersion }: AgentOnPath): Promise<PreparedTurn> {
    if (agentId === first.agent.agentId) return first;
    return prepared(await ctx.agents.get(ownerId, agentId, { agentVersion, draftId: null }));
  }

  function prepared(agent: AgentRuntime): PreparedTurn {
    return { agent, model: ctx.selectModel(ownerId, llmOf(agent), log) };
  }

  /** An agent that has held the conversation before has kept its version. */
  async function nextOf(agentId: string): Promise<PreparedTurn> {
    if (agentId === first.agent.agentId) return first;
    return prepared(await successorOf(ctx, accepted, path, agentId));
  }

  async function newest(): Promise<Speaker> {
    const onPath = accepted.agentPath?.at(-1);
    if (!onPath) return speakerOf(firstAgain);
    try {
      return await speakerOf(onPath);
    } catch (error) {
      if (!isGone(error)) throw error;
      await storeTakeOver(ctx.db, accepted, firstAgain, ctx.clock.now());
      return speakerOf(firstAgain);
    }
  }

  function refusal(): string | null {
    if (underWay) return "The conversation is handed over to another agent already.";
    return handoffRefusal({ ofTurn, ofConversation });
  }

  async function handOver(handoff: Handoff, { variables }: ToolContext): Promise<ToolOutcome> {
    const refused = refusal();
    if (refused !== null) return failed(refused);
    underWay = "loading";
    const { agentId, context, message = "", keepVoice, greet } = handoff;
    const voiceAgentId = keepVoice ? speaker.onPath.voiceAgentId : agentId;
    try {
      const successor = await nextOf(agentId);
      const agentVersion = versionOf(successor.agent);
      const from = contextFrom(context, seq);
      const onPath = { agentId, agentVersion, fromSeq: replySeq, contextFrom: from, voiceAgentId };
      const next = await speakerWith(onPath, successor);
      const values = { ...variables, ...next.system };
      // A prompt that is too long once it is filled would end the turn.
      filledPrompt(next.agent, values);
      const greeting = greet ? filledGreeting(next.agent, values) : "";
      underWay = { speaker: next, handed: { message, greeting } };
      return { result: resultOf(greeting), isError: false, takesOver: next.onPath, message };
    } catch (error) {
      underWay = null;
      return failed(cannotTakeOver(error));
    }
  }

  return {
    speaker: () => speaker,
    apply: ({ takesOver }) => {
      decided = takesOver ?? decided;
    },
    take: () => {
      const handoff = underWay;
      const isDecided = decided !== null;
      underWay = decided = null;
      if (!isDecided || handoff === null || handoff === "loading") return null;
      ofTurn++;
      ofConversation++;
      return {
        ...handoff.handed,
        begin: () => {
          speaker = handoff.speaker;
          path.push(speaker.onPath);
        },
      };
    },
  };
}

function firstOnPath(agent: AgentRuntime, fromSeq: number): AgentOnPath {
  const { agentId } = agent;
  return { agentId, agentVersion: versionOf(agent), fromSeq, contextFrom: 1, voiceAgentId: agentId };
}

const GREETING_SHOWN_MAX = 1_000;

/** For the agent that takes over, which sees the call. */
function resultOf(greeting: string): string {
  const done = "You have taken over the conversation from another agent. Answer the user now.";
  if (greeting === "") return done;
  return `${done} You have greeted the user with these words: ${greeting.slice(0, GREETING_SHOWN_MAX).toWellFormed()}`;
}
