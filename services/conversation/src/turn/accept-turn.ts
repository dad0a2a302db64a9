import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { ConversationType } from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { collectValues } from "@parley/shared/domain/variables/values";
import { invalid, notFound, ServiceError, withMetadata } from "@parley/shared/errors";
import { isUuid, newId, newUuid } from "@parley/shared/ids";
import type { Call } from "@parley/shared/rpc/call";
import { callerOf } from "../agents/choose-version.ts";
import type { ConversationContext } from "../context.ts";
import type { Model } from "../model/port.ts";
import { llmOf } from "../model/select.ts";
import { startWebhookOf } from "../start/start-once.ts";
import { channelOf } from "../start/system-values.ts";
import { versionOf } from "../store/agent-path.ts";
import { conversationExists, findConversation, type SessionAgent } from "../store/conversations.ts";
import type { ReplyKnowledge } from "../store/reply-knowledge.ts";
import {
  hasRoomForMetadata,
  insertSessionWithTurn,
  type NewTurn,
  type OpenTurn,
  type TakenTurn,
  takeTurn,
} from "../store/turns/take-turns.ts";
import type { ClientCall } from "../tools/client-calls.ts";
import { CALLS_OF_ROUND_MAX } from "../tools/turn-tools.ts";
import { acceptResults } from "./accept-results.ts";
import { byteBudget } from "./ask/context-window.ts";

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

/** A turn in progress, its user message stored. */
export interface AcceptedTurn extends OpenTurn, TakenTurn {}

/** Postgres' code for a row whose key exists. */
const UNIQUE_VIOLATION = "23505";

const WHAT: Readonly<Record<NewTurn["type"], string>> = { CHAT: "chat session", WHATSAPP: "WhatsApp conversation" };

/** A turn to run, or an answer: that of an earlier request with the same idempotency key, or an empty one to results. */
export type Acceptance =
  | { type: "run"; prepared: PreparedTurn; accepted: AcceptedTurn }
  | {
      type: "answered";
      sessionId: string;
      replySeq: number;
      text: string;
      knowledge: ReplyKnowledge | null;
      clientCalls: readonly ClientCall[];
      replayed: boolean;
      /** An operator answers. */
      isOperators: boolean;
    };

/** The answer to results that need none. */
export function answeredBefore(sessionId: string): Extract<Acceptance, { type: "answered" }> {
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
export function leftToOperator(sessionId: string): ReturnType<typeof answeredBefore> {
  return { ...answeredBefore(sessionId), isOperators: true };
}

/** Runs a turn's statements that other turns do not share: those of one owner are few at a time, so that others find a connection. */
export type Alone = <T>(run: () => Promise<T>) => Promise<T>;

/**
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
  const now = ctx.clock.now();
  const metadata = turn.metadata ?? {};
  const fields: NewTurn = {
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
  const key = { ownerId: fields.ownerId, conversationId: fields.conversationId, turnId: fields.turnId };
  if (turn.toolResults.length > 0) {
    const accept = (sql: Sql) => acceptResults(ctx, fields, turn.toolResults, sql);
    const results = await (tx ? accept(tx) : alone(() => ctx.db.begin(accept)));
    if (results.type === "run") return { ...key, ...results.taken };
    if (results.type === "nothing") return null;
    throw await alone(() => refusal(tx ?? ctx.db, fields));
  }
  const begin = async (): Promise<AcceptedTurn> => {
    const isStarting = startWebhookOf(agent, channelOf("CHAT", fields.isWidget)) !== null;
    const session = { ...fields, id: newId("cnv"), isStarting };
    await (tx ? insertSessionWithTurn(tx, session) : ctx.turnStore.insertSessionWithTurn(session));
    ctx.sessionAgents.keep(key, { ...session, askedAgentId: null });
    return {
      ...key,
      seq: 1,
      replySeq: 2,
      agentId: fields.agentId,
      agentVersion: fields.agentVersion,
      variables: fields.variables,
      isStarting,
      language: null,
      hasToolCalls: false,
      agentPath: null,
      injected: null,
      earlier: [],
    };
  };
  if (turn.sessionId === undefined) return begin();
  const maxBytes = byteBudget(ctx.limits.contextTokens);
  const taken = await (tx ? takeTurn(tx, fields, maxBytes) : ctx.turnStore.takeTurn(fields, maxBytes));
  if (taken) return { ...key, ...taken };
  const session = await alone(() => findConversation(tx ?? ctx.db, fields, now));
  if (!session && turn.mayBegin) {
    if (hasBegun) {
      // Deleted since this process knew it: the next message begins anew.
      ctx.sessionAgents.forget(key);
      throw inProgress(conversationId);
    }
    return begin().catch((error) => {
      // Another first turn of the session was faster.
      throw error?.code === UNIQUE_VIOLATION ? inProgress(fields.conversationId) : error;
    });
  }
  throw await alone(() => refusal(tx ?? ctx.db, fields));
}

const NAME_LENGTH_MAX = 60;

/** Names a chat after its first user message, cut at a word at 60 characters. */
export function sessionName(message: string): string {
  const line = message.trim().replaceAll(/\s+/g, " ");
  const characters = [...line];
  if (characters.length <= NAME_LENGTH_MAX) return line;
  const cut = characters.slice(0, NAME_LENGTH_MAX).join("");
  if (characters[NAME_LENGTH_MAX] === " ") return cut;
  const lastSpace = cut.lastIndexOf(" ");
  return lastSpace > 0 ? cut.slice(0, lastSpace) : cut;
}

async function refusal(sql: Sql, turn: NewTurn): Promise<ServiceError> {
  const session = await findConversation(sql, turn, turn.now);
  if (!session) {
    return (await conversationExists(sql, turn.conversationId, turn.now))
      ? new ServiceError("forbidden", "You do not have access to this session")
      : notFound("Session");
  }
  const metadata = { session_id: turn.conversationId };
  if (session.type !== turn.type) {
    return new ServiceError("condition", `Session is not a ${WHAT[turn.type]}`, { metadata });
  }
  if (session.agentId !== turn.agentId && session.askedAgentId !== turn.agentId) {
    return new ServiceError("condition", "session_id belongs to a session of another agent", { metadata });
  }
  if ((session.draftId === null) !== (turn.draftId === null)) {
    const detail =
      turn.draftId === null
        ? "Session uses a draft: send draft with each message"
        : "Session does not use a draft: start a new session, without session_id";
    return new ServiceError("condition", detail, { metadata });
  }
  if (session.status !== "IN_PROGRESS") return new ServiceError("condition", "Session has ended", { metadata });
  if (!(await hasRoomForMetadata(sql, turn))) {
    const message = "metadata of all messages of a session must be at most 1 MiB together";
    return new ServiceError("invalid", message, { violations: [{ path: "metadata", message }], metadata });
  }
  return inProgress(turn.conversationId);
}

function inProgress(sessionId: string): ServiceError {
  const message = "A reply is in progress in this session. Wait for it to end.";
  return new ServiceError("conflict", message, { metadata: { session_id: sessionId } });
}
