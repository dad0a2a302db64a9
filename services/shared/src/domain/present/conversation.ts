import {
  type ChatSession,
  type ChatSessionSummary,
  type Conversation,
  ConversationType,
  type KnowledgeSource,
  type Message,
  type Reply,
  type ReplyKnowledge,
  type ScheduledCall,
  type StartWebhookOutcome,
  type ToolCall,
  type TurnLatency,
  type Usage,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import type { DocumentSet } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import {
  CALL_OUTCOMES,
  CALLING_TYPES,
  CONVERSATION_STATUSES,
  CONVERSATION_TYPES,
  ENDED_BY,
  KNOWLEDGE_STATUSES,
  MESSAGE_DELIVERIES,
  nameOf,
  ROLES,
  TOOL_CALL_STATES,
} from "../api-names.ts";
import { lastSets } from "../knowledge.ts";
import { isoTime } from "./time.ts";

/** The extra fields that a client requested with `include`. */
interface Shown {
  /** The tokens and times of each reply of a model, and the tools that it called. */
  replies?: boolean;
  /** What each cost, and sums of all. */
  cost?: boolean;
  /** What its model was given from knowledge bases. */
  sources?: boolean;
}

/** A conversation as the API shows it (docs/api-reference.md#conversations). */
export function presentConversation(conversation: Conversation, shown: Shown = {}) {
  const callingType = nameOf(CALLING_TYPES, conversation.callingType);
  const outcome = nameOf(CALL_OUTCOMES, conversation.outcome);
  const endedBy = nameOf(ENDED_BY, conversation.endedBy ?? 0);
  const mobileNumber =
    callingType === "OUTBOUND"
      ? conversation.toMobileNumber
      : (conversation.fromMobileNumber ?? conversation.toMobileNumber);
  return {
    id: conversation.id,
    conversation_id: conversation.conversationId,
    agent_id: conversation.agentId,
    agent_version: conversation.agentVersion ?? null,
    agent_path: conversation.agentPath.map(({ agentId, agentVersion, fromSeq }) => ({
      ...{ agent_id: agentId, agent_version: agentVersion ?? null, from_seq: fromSeq },
    })),
    conversation_type: nameOf(CONVERSATION_TYPES, conversation.type),
    conversation_status: nameOf(CONVERSATION_STATUSES, conversation.status),
    conversation_analysis: conversation.analysis
      ? conversation.analysis.items.map(({ name, value, type, error }) => ({
          name,
          value,
          type,
          ...(error && { error }),
        }))
      : null,
    notes: conversation.notes ?? null,
    conversation_transcript: conversation.transcript?.messages.map((message) => presentMessage(message, shown)) ?? null,
    created_by: conversation.createdBy ?? null,
    conversation_metadata: presentMetadata(conversation),
    created_at: isoTime(conversation.createdAt),
    updated_at: isoTime(conversation.updatedAt),
    ...(callingType && { calling_type: callingType }),
    ...(outcome && { outcome }),
    ...(mobileNumber !== undefined && { mobile_number: mobileNumber }),
    ...(endedBy && { ended_by: endedBy }),
    ...(conversation.language !== undefined && { language: conversation.language }),
    ...(conversation.test && { test: { run_id: conversation.test.runId } }),
    ...(conversation.durationSeconds !== undefined && { duration: conversation.durationSeconds }),
    ...(conversation.answeredAt && { answered_at: isoTime(conversation.answeredAt) }),
    ...(conversation.scheduledCall && { scheduled_call: presentScheduled(conversation.scheduledCall) }),
    ...(conversation.startWebhook && { start_webhook: presentStartOutcome(conversation.startWebhook) }),
    ...(shown.cost && conversation.usage && { usage: presentUsage(conversation.usage, shown) }),
    ...(shown.sources && { document_sets: documentSetsOf(conversation) }),
  };
}

/** The documents that each knowledge base had when it last answered for a reply. */
function documentSetsOf({ transcript }: Conversation) {
  const sets = (transcript?.messages ?? []).flatMap(({ knowledge }) => knowledge?.documentSets ?? []);
  return lastSets(sets).map(presentDocumentSet);
}

function presentStartOutcome({ status, durationMs, error }: StartWebhookOutcome) {
  return { status: status ?? null, duration_ms: durationMs, error: error ?? null };
}

function presentScheduled({ at, reason }: ScheduledCall) {
  return { at: isoTime(at), ...(reason !== undefined && { reason }) };
}

/** The fields of the channel, beside the metadata that the client gave. */
function presentMetadata(conversation: Conversation): object {
  return { ...channelMetadata(conversation), ...(conversation.isTestCall && { is_test_call: true }) };
}

function channelMetadata(conversation: Conversation): object {
  switch (conversation.type) {
    case ConversationType.CONVERSATION_TYPE_TELEPHONY:
      return {
        ...conversation.metadata,
        to_mobile_number: conversation.toMobileNumber ?? null,
        from_mobile_number: conversation.fromMobileNumber ?? null,
        calling_type: nameOf(CALLING_TYPES, conversation.callingType) ?? null,
        telephony_provider: conversation.telephonyProvider ?? null,
        conversation_recording_url: conversation.recordingUrl ?? null,
        conversation_duration: conversation.durationSeconds ?? null,
        dynamic_variables: conversation.dynamicVariables ?? {},
      };
    case ConversationType.CONVERSATION_TYPE_WHATSAPP:
      return {
        ...conversation.metadata,
        from_mobile_number: conversation.fromMobileNumber ?? null,
        to_mobile_number: conversation.toMobileNumber ?? null,
        last_activity: isoTime(conversation.lastActivityAt),
      };
    case ConversationType.CONVERSATION_TYPE_DAILY:
      return {
        ...conversation.metadata,
        room_url: conversation.roomUrl ?? null,
        room_name: conversation.roomName ?? null,
        conversation_duration: conversation.durationSeconds ?? null,
        ...(conversation.recordingUrl !== undefined && { conversation_recording_url: conversation.recordingUrl }),
      };
    case ConversationType.CONVERSATION_TYPE_WEB:
      return {
        ...conversation.metadata,
        conversation_recording_url: conversation.recordingUrl ?? null,
        conversation_duration: conversation.durationSeconds ?? null,
        dynamic_variables: conversation.dynamicVariables ?? {},
      };
    default:
      return {
        ...conversation.metadata,
        last_activity: isoTime(conversation.lastActivityAt),
        session_status: nameOf(CONVERSATION_STATUSES, conversation.status),
      };
  }
}

/** A chat session with its messages (docs/api-reference.md#chat-sessions). */
export function presentSession(session: ChatSession, shown: Shown = {}) {
  return {
    session_id: session.sessionId,
    agent_id: session.agentId,
    status: nameOf(CONVERSATION_STATUSES, session.status),
    messages: session.messages.map((message) => presentMessage(message, shown)),
    message_count: session.messageCount,
    created_at: isoTime(session.createdAt),
    updated_at: isoTime(session.updatedAt),
    metadata: {
      ...session.metadata,
      last_activity: isoTime(session.lastActivityAt),
      session_status: nameOf(CONVERSATION_STATUSES, session.status),
    },
    usage: session.usage ? presentUsage(session.usage, shown) : null,
  };
}

/** A chat session in a list, with times in Unix seconds (docs/api-reference.md#chat-sessions). */
export function presentSummary(session: ChatSessionSummary) {
  return {
    id: session.sessionId,
    object: "chat.session",
    created_at: unixSeconds(session.createdAt),
    updated_at: unixSeconds(session.updatedAt),
    agent_id: session.agentId,
    conversation_name: session.conversationName,
    message_count: session.messageCount,
    metadata: {
      ...session.metadata,
      last_activity: isoTime(session.lastActivityAt),
      session_status: nameOf(CONVERSATION_STATUSES, session.status),
    },
  };
}

/** A message of a transcript. */
export function presentMessage(
  { role, content, timestamp, startedAt, latency, delivery, reply, toolCalls, filler, byOperator, knowledge }: Message,
  { replies, cost = false, sources }: Shown = {},
) {
  return {
    role: nameOf(ROLES, role),
    content,
    timestamp: isoTime(timestamp),
    ...(filler && { filler }),
    ...(byOperator && { by: "operator" }),
    ...(startedAt && { started_at: isoTime(startedAt) }),
    ...(latency && { latency: presentLatency(latency) }),
    ...(replies && reply && { reply: presentReply(reply, cost) }),
    ...(replies && toolCalls.length > 0 && { tool_calls: toolCalls.map(presentToolCall) }),
    ...(sources && knowledge && presentKnowledge(knowledge)),
    ...(delivery && { delivery_status: nameOf(MESSAGE_DELIVERIES, delivery.status) }),
    ...(delivery?.errorCode !== undefined && { delivery_error: delivery.errorCode }),
  };
}

/** What a model was given from knowledge bases, as two members of an answer. */
export function presentKnowledge({ status, durationMs, truncated, sources, documentSets }: ReplyKnowledge) {
  return {
    knowledge: {
      status: nameOf(KNOWLEDGE_STATUSES, status),
      duration_ms: durationMs,
      ...(truncated && { truncated }),
      document_sets: documentSets.map(presentDocumentSet),
    },
    sources: sources.map(presentSource),
  };
}

function presentDocumentSet({ knowledgeBaseId, documentsHash }: DocumentSet) {
  return { knowledge_base_id: knowledgeBaseId, documents_hash: documentsHash };
}

function presentSource({ knowledgeBaseId, documentId, name, chunkId, score }: KnowledgeSource) {
  return {
    knowledge_base_id: knowledgeBaseId,
    document_id: documentId,
    name,
    chunk_id: chunkId ?? null,
    score: score ?? null,
  };
}

function presentReply(reply: Reply, withCost: boolean) {
  return {
    provider_name: reply.providerName,
    model_name: reply.modelName,
    input_tokens: reply.inputTokens ?? null,
    output_tokens: reply.outputTokens ?? null,
    ...(withCost && { cost_usd_micros: reply.costUsdMicros ?? null }),
    first_word_ms: reply.firstWordMs ?? null,
    total_ms: reply.totalMs ?? null,
    is_partial: reply.isPartial,
    partial_reason: reply.partialReason ?? null,
  };
}

export function presentToolCall(call: ToolCall) {
  return {
    tool_call_id: call.toolCallId,
    name: call.name,
    arguments: call.arguments,
    result: call.result,
    status: nameOf(TOOL_CALL_STATES, call.state),
    is_error: call.isError,
    is_cut: call.isCut,
    http_status: call.httpStatus ?? null,
    note: call.note ?? null,
    ...(call.mocked && { mocked: true }),
    attempts: call.attempts,
    started_ms: call.startedMs ?? null,
    duration_ms: call.durationMs ?? null,
    offset: call.offset,
  };
}

/** Milliseconds by stage, those that were measured. */
function presentLatency(latency: TurnLatency) {
  return {
    end_of_turn: latency.endOfTurnMs,
    transcript: latency.transcriptMs,
    first_word: latency.firstWordMs,
    first_audio: latency.firstAudioMs,
    audible: latency.audibleMs,
    ...(latency.unfinished && { unfinished: true }),
  };
}

function presentUsage(usage: Usage, { cost }: Shown) {
  return {
    replies: usage.replies,
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    mean_first_word_ms: usage.firstWordMs,
    mean_total_ms: usage.totalMs,
    ...(cost && { cost_usd_micros: usage.costUsdMicros, unpriced_replies: usage.unpricedReplies }),
  };
}

function unixSeconds(date: Date | undefined): number {
  return Math.floor((date?.getTime() ?? 0) / 1000);
}
