import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { VariableValue } from "@parley/shared/domain/variables/values";
import type { ModelMessage, ModelRequest, ModelTool } from "../../model/port.ts";
import { languageNote } from "../../tools/builtin/language.ts";
import type { ToolChannel } from "../../tools/tool.ts";
import type { Toolbox } from "../../tools/toolbox.ts";
import { fitContext } from "./context-window.ts";
import { filledPrompt } from "./filled-texts.ts";

/** The additions of a channel to an agent. */
export interface Channel {
  name: ToolChannel;
  /** Whether the user is at the other end of a telephone line. */
  isTelephone?: boolean;
  /** An instruction after the agent's prompt; may be empty. */
  note: string;
}

/** What a turn's requests to the model are made of. */
export interface TurnRequest {
  agent: AgentRuntime;
  variables: Readonly<Record<string, VariableValue>>;
  /** The language that the conversation was set to, a BCP 47 tag. */
  language: string | null;
  channel: Channel;
  toolbox: Toolbox;
  /** What its knowledge bases add to the prompt; may be empty. */
  knowledge: string;
  /** What an operator lets the model know. */
  injected?: readonly string[] | null | undefined;
  /** The session up to the user's message. */
  earlier: readonly ModelMessage[];
  /** What the model said and called since. */
  said: readonly ModelMessage[];
  contextTokens: number;
}

/**
 * Builds what the model sees of a turn: the agent's prompt with its variables filled, the session so far, and the tools
 * (docs/api-reference.md#what-the-model-sees).
 * @throws ServiceError condition when the filled prompt is too long
 */
export function modelRequest(turn: TurnRequest): ModelRequest {
  const { agent, variables, language, channel, toolbox, knowledge, injected, earlier, said, contextTokens } = turn;
  const languageText = language === null ? "" : languageNote(language);
  const system = [filledPrompt(agent, variables), channel.note, languageText, knowledge, injectedNote(injected ?? [])]
    .filter((text) => text !== "")
    .join("\n\n");
  return {
    system,
    messages: fitContext(
      system + definitionsText(toolbox.definitions),
      [...earlier, ...said],
      contextTokens,
      said.length + 1,
    ),
    tools: toolbox.definitions,
  };
}

function injectedNote(injected: readonly string[]): string {
  if (injected.length === 0) return "";
  const known = injected.map((text) => `- ${text}`).join("\n");
  return `A colleague who follows the conversation lets you know, without the user hearing it:\n${known}`;
}

/** What the definitions of tools add to a request, about as providers write them. */
export function definitionsText(tools: readonly ModelTool[]): string {
  return tools.length === 0 ? "" : JSON.stringify(tools);
}
