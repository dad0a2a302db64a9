import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { isUniqueViolation } from "@parley/shared/db/unique-violation";
import { collectValues } from "@parley/shared/domain/variables/values";
import { newId, newUuid } from "@parley/shared/ids";
import type { ConversationContext } from "../context.ts";
import { startWebhookOf } from "../start/start-once.ts";
import { channelOf } from "../start/system-values.ts";
import { versionOf } from "../store/agent-path.ts";
import { findConversation } from "../store/conversations.ts";
import type { ReplyKnowledge } from "../store/reply-knowledge.ts";
import {
  insertSessionWithTurn,
  type NewTurn,
  type OpenTurn,
  type TakenTurn,
  takeTurn,
} from "../store/turns/take-turns.ts";
import type { ClientCall } from "../tools/client-calls.ts";
import { acceptResults } from "./accept-results.ts";
import { byteBudget } from "./ask/context-window.ts";
import type { AcceptableTurn, Alone, PreparedTurn } from "./prepare-turn.ts";
import { inProgress, refusedTurn } from "./refused-turn.ts";
import { sessionName } from "./session-name.ts";

/** A turn in progress, its user message stored. */
export interface AcceptedTurn extends OpenTurn, TakenTurn {}

export type Acceptance = RunnableTurn | AnsweredTurn;

/** A turn whose user message is stored, and which the model is to answer. */
export interface RunnableTurn {
  type: "run";
  prepared: PreparedTurn;
  accepted: AcceptedTurn;
}

/** The answer to a turn that does not run: that of an earlier request with the same idempotency key, or an empty one. */
export interface AnsweredTurn {
  type: "answered";
  sessionId: string;
  replySeq: number;
  text: string;
  knowledge: ReplyKnowledge | null;
  clientCalls: readonly ClientCall[];
  replayed: boolean;
  /** An operator answers. */
  isOperators: boolean;
}

/** The answer to results that need none. */
export function answeredBefore(sessionId: string): AnsweredTurn {
  return {
    type: "answered",
    sessionId,
    replySeq: 0,
    text: "",
    knowledge: null,
    clientCalls: [],
    replayed: false,
    isOperators: false,
  };
}

/** The answer to a message that the model is not asked about. */
export function leftToOperator(sessionId: string): AnsweredTurn {
  return { ...answeredBefore(sessionId), isOperators: true };
}

/**
 * Takes the turn of a new or given session and stores the user message, or the client's results.
 * @param tx the transaction, when there is one
 * @returns null when results need no answer: they are repeated, or the model waits for further ones
 * @throws ServiceError not_found, forbidden, condition (of another type, another agent's, ended), invalid (too much metadata, a result
 * for an unknown call) or conflict (a reply in progress)
 */
export async function acceptTurn(
  ctx: ConversationContext,
  turn: Turn,
  { agent, conversationId, hasBegun }: Omit<AcceptableTurn, "model">,
  alone: Alone,
  tx?: Sql,
): Promise<AcceptedTurn | null> {
  const fields = newTurn(ctx, turn, agent, conversationId);
  const { ownerId, turnId, now } = fields;
  const key = { ownerId, conversationId, turnId };
  const refused = () => alone(() => refusedTurn(tx ?? ctx.db, fields));
  if (turn.toolResults.length > 0) {
    const accept = (sql: Sql) => acceptResults(ctx, fields, turn.toolResults, sql);
    const results = await (tx ? accept(tx) : alone(() => ctx.db.begin(accept)));
    if (results.type === "refused") throw await refused();
    return results.type === "run" ? { ...key, ...results.taken } : null;
  }
  if (turn.sessionId === undefined) return beginSession(ctx, fields, agent, tx);
  const maxBytes = byteBudget(ctx.limits.contextTokens);
  const taken = await (tx ? takeTurn(tx, fields, maxBytes) : ctx.turnStore.takeTurn(fields, maxBytes));
  if (taken) return { ...key, ...taken };
  const session = await alone(() => findConversation(tx ?? ctx.db, fields, now));
  if (session || !turn.mayBegin) throw await refused();
  if (hasBegun) {
    // Deleted since this process knew it: the next message begins anew.
    ctx.sessionAgents.forget(key);
    throw inProgress(conversationId);
  }
  return beginSession(ctx, fields, agent, tx).catch((error) => {
    // Another first turn of the session was faster.
    throw isUniqueViolation(error) ? inProgress(conversationId) : error;
  });
}

function newTurn(ctx: ConversationContext, turn: Turn, agent: AgentRuntime, conversationId: string): NewTurn {
  const now = ctx.clock.now();
  const metadata = turn.metadata ?? {};
  return {
    ownerId: turn.ownerId,
    conversationId,
    turnId: newUuid(),
    type: turn.type === ConversationType.CONVERSATION_TYPE_WHATSAPP ? "WHATSAPP" : "CHAT",
    agentId: turn.agentId,
    draftId: turn.draftId ?? null,
    agentVersion: versionOf(agent),
    isWidget: turn.fromWidget ?? false,
    message: turn.message,
    name: sessionName(turn.message),
    metadata,
    variables: collectValues(metadata),
    now,
    until: new Date(now.getTime() + ctx.limits.turnLeaseMs),
  };
}

/** Stores a session with its first user message. */
async function beginSession(
  ctx: ConversationContext,
  turn: NewTurn,
  agent: AgentRuntime,
  tx: Sql | undefined,
): Promise<AcceptedTurn> {
  const { ownerId, conversationId, turnId, agentId, agentVersion, variables } = turn;
  const key = { ownerId, conversationId, turnId };
  const isStarting = startWebhookOf(agent, channelOf("CHAT", turn.isWidget)) !== null;
  const session = { ...turn, id: newId("cnv"), isStarting };
  await (tx ? insertSessionWithTurn(tx, session) : ctx.turnStore.insertSessionWithTurn(session));
  ctx.sessionAgents.keep(key, { ...session, askedAgentId: null });
  const begun = { seq: 1, replySeq: 2, agentId, agentVersion, variables, isStarting };
  const nothingYet = { language: null, hasToolCalls: false, agentPath: null, injected: null, earlier: [] };
  return { ...key, ...begun, ...nothingYet };
}
