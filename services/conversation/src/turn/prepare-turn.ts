import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { invalid, ServiceError, withMetadata } from "@parley/shared/errors";
import { isUuid, newUuid } from "@parley/shared/ids";
import type { Call } from "@parley/shared/rpc/call";
import { callerOf } from "../agents/choose-version.ts";
import type { ConversationContext } from "../context.ts";
import type { Model } from "../model/port.ts";
import { llmOf } from "../model/select.ts";
import { findConversation, type SessionAgent } from "../store/conversations.ts";
import { CALLS_OF_ROUND_MAX } from "../tools/turn-tools.ts";

const TYPES: readonly ConversationType[] = [
  ConversationType.CONVERSATION_TYPE_UNSPECIFIED,
  ConversationType.CONVERSATION_TYPE_CHAT,
  ConversationType.CONVERSATION_TYPE_WHATSAPP,
];

/**
 * Returns the requested turn, with its session id in the form that Postgres writes.
 * @throws ServiceError invalid when the turn is missing, its session id is not a UUID, or its type has no such turns
 */
export function requestedTurn(turn: Turn | undefined): Turn {
  if (!turn) throw invalid("turn", "turn is required");
  if (turn.sessionId !== undefined && !isUuid(turn.sessionId)) {
    throw invalid("session_id", "session_id must be a UUID, as a chat reply or first-message gave it");
  }
  if (!TYPES.includes(turn.type)) throw invalid("type", "type must be CHAT or WHATSAPP: no other type has such turns");
  if (turn.mayBegin && turn.sessionId === undefined) throw invalid("session_id", "may_begin needs a session_id");
  const { length } = turn.toolResults;
  if (length > 0 && turn.sessionId === undefined) throw invalid("session_id", "tool_results need a session_id");
  if (length > 0 && turn.message !== "") throw invalid("tool_results", "A turn has either message or tool_results");
  if (length > CALLS_OF_ROUND_MAX)
    throw invalid("tool_results", `tool_results must have at most ${CALLS_OF_ROUND_MAX} items`);
  return { ...turn, sessionId: turn.sessionId?.toLowerCase() };
}

/** The parts that a turn needs before its user message can be accepted. */
export interface PreparedTurn {
  agent: AgentRuntime;
  model: Model;
}

/** A turn that is to be accepted. */
export interface AcceptableTurn extends PreparedTurn {
  /** The session's, new or begun. */
  conversationId: string;
  /** Whether the agent is that of a session that has begun. */
  hasBegun: boolean;
}

/** Runs a turn's statements that other turns do not share: those of one owner are few at a time, so that others find a connection. */
export type Alone = <T>(run: () => Promise<T>) => Promise<T>;

/**
 * Finds the agent of a turn, in the version that its session keeps or begins with, and its model. Stores nothing.
 * @param isNew whether its user message is yet to be stored
 * @throws ServiceError forbidden, not_found, condition when the agent has no model that can be called, or conflict when the owner has
 * no room for a new turn; in each case with `session_id` in its metadata if the turn's session exists
 */
export async function prepareTurn(
  ctx: ConversationContext,
  turn: Turn,
  { log }: Call,
  alone: Alone,
  isNew = true,
): Promise<AcceptableTurn> {
  try {
    const { agent, ...session } = await agentOf(ctx, turn, alone);
    const model = ctx.selectModel(turn.ownerId, llmOf(agent), log);
    if (isNew) ctx.room.refuseFull(turn.ownerId);
    return { agent, model, ...session };
  } catch (error) {
    if (!(error instanceof ServiceError) || turn.sessionId === undefined) throw error;
    const key = { ownerId: turn.ownerId, conversationId: turn.sessionId };
    const session = await alone(() => findConversation(ctx.db, key, ctx.clock.now()));
    throw session ? withMetadata(error, { session_id: turn.sessionId }) : error;
  }
}

/** The agent of the turn's session, or else the one with which it begins. */
async function agentOf(ctx: ConversationContext, turn: Turn, alone: Alone): Promise<Omit<AcceptableTurn, "model">> {
  const { ownerId, agentId, draftId, agentVersion, latestVersion, metadata } = turn;
  const conversationId = turn.sessionId ?? newUuid();
  const key = { ownerId, conversationId };
  if (draftId === undefined && turn.sessionId !== undefined) {
    const session = ctx.sessionAgents.known(key) ?? (await alone(() => ctx.sessionAgents.read(key)));
    // A turn with another agent, or without the session's draft, is refused as one of a new session is.
    const version = session && [session.agentId, session.askedAgentId].includes(agentId) ? session.agentVersion : null;
    if (session && version !== null) {
      refuseOther(session, agentVersion);
      const agent = await ctx.agents.get(ownerId, session.agentId, { agentVersion: version, draftId: null });
      return { agent, conversationId, hasBegun: true };
    }
  }
  const caller = callerOf({ conversationId, metadata: metadata ?? {} });
  const agent = await ctx.agents.choose(ownerId, agentId, { draftId, agentVersion, latestVersion, caller });
  return { agent, conversationId, hasBegun: false };
}

/** @throws ServiceError condition for another version than the session's */
function refuseOther({ agentVersion, askedAgentId }: SessionAgent, wanted: number | undefined): void {
  if (wanted === undefined || wanted === agentVersion || askedAgentId !== null) return;
  const detail = `Session uses version ${agentVersion} of its agent: start a new session for another, without session_id`;
  throw new ServiceError("condition", detail);
}
