import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { collectValues } from "@parley/shared/domain/variables/values";
import { notFound, ServiceError } from "@parley/shared/errors";
import { newId, newUuid } from "@parley/shared/ids";
import type { Call } from "@parley/shared/rpc/call";
import type { ConversationContext } from "../context.ts";
import type { Model } from "../model/port.ts";
import { conversationExists, findConversation } from "../store/conversations.ts";
import {
  hasRoomForMetadata,
  insertSessionWithTurn,
  type NewTurn,
  type OpenTurn,
  type TakenTurn,
  takeTurn,
} from "../store/turns.ts";
import { byteBudget } from "./context-window.ts";
import { llmOf } from "./llm-of.ts";
import { sessionName } from "./session-name.ts";

/** What a turn needs before its user message can be accepted. */
export interface PreparedTurn {
  agent: AgentRuntime;
  model: Model;
}

/** A turn under way, its user message stored. */
export interface AcceptedTurn extends OpenTurn, TakenTurn {}

/** A turn to run, or one that an earlier request with the same idempotency key has run. */
export type Acceptance =
  | { type: "run"; prepared: PreparedTurn; accepted: AcceptedTurn }
  | { type: "replay"; sessionId: string; text: string };

/** @throws ServiceError forbidden, not_found, or condition when the agent has no model that can be called */
export async function prepareTurn(ctx: ConversationContext, turn: Turn, { log }: Call): Promise<PreparedTurn> {
  const agent = await ctx.getAgent(turn.ownerId, turn.agentId);
  return { agent, model: ctx.selectModel(llmOf(agent), log) };
}

/**
 * Takes the turn of a new or given session and stores the user message.
 * @param sql the transaction, when there is one
 * @throws ServiceError not_found, forbidden, condition (no chat, another agent's, ended), invalid (too much metadata)
 * or conflict (a reply in progress)
 */
export async function acceptTurn(ctx: ConversationContext, turn: Turn, sql: Sql = ctx.db): Promise<AcceptedTurn> {
  const now = ctx.clock.now();
  const metadata = turn.metadata ?? {};
  const fields: NewTurn = {
    ownerId: turn.ownerId,
    conversationId: turn.sessionId ?? newUuid(),
    turnId: newUuid(),
    agentId: turn.agentId,
    message: turn.message,
    name: sessionName(turn.message),
    metadata,
    variables: collectValues(metadata),
    now,
    until: new Date(now.getTime() + ctx.limits.turnLeaseMs),
  };
  const key = { ownerId: fields.ownerId, conversationId: fields.conversationId, turnId: fields.turnId };
  if (turn.sessionId === undefined) {
    await insertSessionWithTurn(sql, { ...fields, id: newId("cnv") });
    return { ...key, seq: 1, replySeq: 2, variables: fields.variables, language: null, earlier: [] };
  }
  const taken = await takeTurn(sql, fields, byteBudget(ctx.limits.contextTokens));
  if (taken) return { ...key, ...taken };
  throw await refusal(sql, fields);
}

async function refusal(sql: Sql, turn: NewTurn): Promise<ServiceError> {
  const session = await findConversation(sql, turn, turn.now);
  if (!session) {
    return (await conversationExists(sql, turn.conversationId, turn.now))
      ? new ServiceError("forbidden", "You do not have access to this session")
      : notFound("Session");
  }
  const metadata = { session_id: turn.conversationId };
  if (session.type !== "CHAT") return new ServiceError("condition", "Session is not a chat session", { metadata });
  if (session.agentId !== turn.agentId) {
    return new ServiceError("condition", "session_id belongs to a session of another agent", { metadata });
  }
  if (session.status !== "IN_PROGRESS") return new ServiceError("condition", "Session has ended", { metadata });
  if (!(await hasRoomForMetadata(sql, turn))) {
    const message = "metadata of all messages of a session may have 1 MiB together";
    return new ServiceError("invalid", message, { violations: [{ path: "metadata", message }], metadata });
  }
  return new ServiceError("conflict", "A reply is in progress in this session, wait for it to end", { metadata });
}
