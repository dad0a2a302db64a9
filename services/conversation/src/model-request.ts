import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { compileTexts } from "@parley/shared/variables/template";
import type { ConversationContext } from "./context.ts";
import { fitContext } from "./context-window.ts";
import type { ModelRequest } from "./model/port.ts";
import type { AcceptedTurn } from "./open-session.ts";
import { listMessagesBefore } from "./store/messages.ts";
import { chatTools } from "./tools.ts";

/** What the model sees of a turn: the agent's prompt with its variables filled, the session so far, the tools (decisions.md: Chat). */
export async function modelRequest(
  { db, limits }: ConversationContext,
  { prompt, firstMessagePrompt, llm, tools }: AgentRuntime,
  turn: AcceptedTurn,
  message: string,
): Promise<ModelRequest> {
  const texts = compileTexts([prompt?.promptContent ?? "", firstMessagePrompt ?? ""]);
  const system = texts.fill(0, turn.variables);
  const earlier = turn.seq > 1 ? await listMessagesBefore(db, turn, turn.seq) : [];
  const messages = [...earlier, { role: "user" as const, content: message }];
  return {
    system,
    messages: fitContext(system, messages, limits.contextTokens),
    temperature: llm?.params?.temperature,
    tools: chatTools(tools),
  };
}
