import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ConversationContext } from "../context.ts";
import type { ConversationRow } from "../store/conversations.ts";
import type { Facts } from "../store/start.ts";
import { filledFirstMessage, filledGreeting } from "../turn/ask/filled-texts.ts";
import { circumstancesOf, systemValues } from "./system-values.ts";
import { systemVariables } from "./system-variables.ts";

type Beginning = Pick<ConversationRow, "ownerId" | "conversationId" | "variables" | "start">;

/**
 * The agent's first words: what its start webhook says in their place, or its greeting; empty for none.
 * @param known of a conversation that is yet to begin
 * @throws ServiceError condition when they are too long once they are filled
 */
export async function greetingOf(
  ctx: Pick<ConversationContext, "db" | "clock">,
  { variables, start, ...key }: Beginning,
  agent: AgentRuntime,
  known?: Partial<Facts>,
): Promise<string> {
  if (start?.say !== undefined) return start.say;
  if (start?.firstMessage === undefined)
    return filledGreeting(agent, { ...variables, ...(await systemValues(ctx, key, agent, known)) });
  const system = systemVariables(await circumstancesOf(ctx, key, agent, known), ctx.clock.now());
  return filledFirstMessage(agent, start.firstMessage, { ...variables, ...system });
}
