import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ConversationContext } from "../../context.ts";
import type { ModelRequest } from "../../model/port.ts";
import { listMessagesBefore } from "../../store/messages.ts";
import { languageNote } from "../../tools/builtin/language.ts";
import type { ToolChannel } from "../../tools/tool.ts";
import type { Toolbox } from "../../tools/toolbox.ts";
import type { AcceptedTurn } from "../accept-turn.ts";
import { byteBudget, fitContext } from "./context-window.ts";
import { filledPrompt } from "./filled-texts.ts";

/** The additions of a channel to an agent. */
export interface Channel {
  name: ToolChannel;
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
  toolbox: Toolbox,
  { note }: Channel,
): Promise<ModelRequest> {
  const earlier = turn.earlier ?? (await listMessagesBefore(db, turn, turn.seq, byteBudget(limits.contextTokens)));
  const languageText = turn.language === null ? "" : languageNote(turn.language);
  const system = [filledPrompt(agent, turn.variables), note, languageText].filter((text) => text !== "").join("\n\n");
  const messages = [...earlier, { role: "user" as const, content: message }];
  return {
    system,
    messages: fitContext(system, messages, limits.contextTokens),
    tools: toolbox.definitions,
  };
}
