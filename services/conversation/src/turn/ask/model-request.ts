import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ConversationContext } from "../../context.ts";
import type { ModelRequest } from "../../model/port.ts";
import { listMessagesBefore, type Said } from "../../store/messages.ts";
import type { AcceptedTurn } from "../accept-turn.ts";
import { byteBudget, fitContext } from "./context-window.ts";
import { filledPrompt } from "./filled-texts.ts";
import { languageNote } from "./language.ts";
import { offeredTools, type Toolbox } from "./tools.ts";

/** The additions of a channel to an agent. */
export interface Channel {
  toolbox: Toolbox;
  /** An instruction after the agent's prompt; may be empty. */
  note: string;
}

/**
 * Builds what the model sees of a turn: the agent's prompt with its variables filled, the session so far, and the tools
 * (docs/api-reference.md#what-the-model-sees).
 * @throws ServiceError condition when the filled prompt is too long
 */
export async function modelRequest(
  { db, limits }: ConversationContext,
  agent: AgentRuntime,
  turn: AcceptedTurn,
  message: string,
  channel: Channel,
): Promise<ModelRequest> {
  const earlier = turn.earlier ?? (await listMessagesBefore(db, turn, turn.seq, byteBudget(limits.contextTokens)));
  return requestOf(agent, { ...turn, earlier }, message, channel, limits.contextTokens);
}

/** The same with the earlier messages given. */
export function requestOf(
  agent: AgentRuntime,
  { variables, language, earlier }: Pick<AcceptedTurn, "variables" | "language"> & { earlier: readonly Said[] },
  message: string,
  { toolbox, note }: Channel,
  contextTokens: number,
): ModelRequest {
  const languageText = language === null ? "" : languageNote(language);
  const system = [filledPrompt(agent, variables), note, languageText].filter((text) => text !== "").join("\n\n");
  const messages = [...earlier, { role: "user" as const, content: message }];
  return {
    system,
    messages: fitContext(system, messages, contextTokens),
    tools: offeredTools(toolbox, agent.tools),
  };
}
