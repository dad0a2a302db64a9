import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext } from "../context.ts";
import { llmOf } from "../model/select.ts";
import { startOnce } from "../start/start-once.ts";
import { versionOf } from "../store/agent-path.ts";
import { findConversation } from "../store/conversations.ts";
import type { AcceptedTurn } from "./accept-turn.ts";
import type { PreparedTurn } from "./prepare-turn.ts";

/** A turn to be answered, or words that reject its conversation. */
export type BegunTurn =
  | { type: "answers"; prepared: PreparedTurn; accepted: AcceptedTurn }
  | { type: "rejects"; say: string };

/**
 * Asks the agent's start webhook if the session has yet to begin, and prepares the agent that it has named, now or before.
 * @throws ServiceError as `startOnce` does, and condition when that agent has no model that can be called
 */
export async function beginTurn(
  ctx: ConversationContext,
  turn: Turn,
  prepared: PreparedTurn,
  accepted: AcceptedTurn,
  call: Call,
): Promise<BegunTurn> {
  const begun = await started(ctx, prepared, accepted);
  if (begun.say !== undefined) return { type: "rejects", say: begun.say };
  const now = { ...accepted, ...begun.state };
  const { agentId, agentVersion } = now;
  const isPrepared = prepared.agent.agentId === agentId && versionOf(prepared.agent) === agentVersion;
  if (isPrepared) return { type: "answers", prepared, accepted: now };
  const other = await ctx.agents.get(turn.ownerId, agentId, { agentVersion, draftId: turn.draftId ?? null });
  const model = ctx.selectModel(turn.ownerId, llmOf(other), call.log);
  return { type: "answers", prepared: { agent: other, model }, accepted: now };
}

async function started(
  ctx: ConversationContext,
  { agent }: PreparedTurn,
  accepted: AcceptedTurn,
): Promise<{
  say?: string | undefined;
  state?: Pick<AcceptedTurn, "agentId" | "agentVersion" | "variables" | "language">;
}> {
  if (!accepted.isStarting) return {};
  const row = await findConversation(ctx.db, accepted, ctx.clock.now());
  if (!row) return {};
  const { start, agentId, agentVersion, variables, language } = await startOnce(ctx, row, agent);
  return { say: start?.say, state: { agentId, agentVersion, variables, language } };
}
