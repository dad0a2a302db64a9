import {
  CallingType,
  type ChatSession,
  type ChatSessionSummary,
  type Conversation,
  type Message,
  Outcome,
  type Reply,
  type ReplyKnowledge,
  type StartWebhookOutcome,
  type ToolCall,
  TurnLatency,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import {
  CALL_OUTCOMES,
  CALLING_TYPES,
  CONVERSATION_STATUSES,
  CONVERSATION_TYPES,
  ENDED_BY,
  KNOWLEDGE_STATUSES,
  MESSAGE_DELIVERIES,
  ROLES,
  TOOL_CALL_STATES,
} from "@parley/shared/domain/api-names";
import { agentPathOf } from "./store/agent-path.ts";
import type { ConversationRow } from "./store/conversations.ts";
import type { MessageRow, UsageRow } from "./store/messages.ts";
import type { ReplyKnowledge as StoredKnowledge } from "./store/reply-knowledge.ts";
import type { StartOutcome } from "./store/start.ts";
import { isFailed, type ToolCallRow } from "./store/turns/kept-tool-calls.ts";

const UNNAMED = "New chat";

export function toConversation(
  row: ConversationRow,
  messages: readonly MessageRow[],
  usage?: UsageRow | undefined,
): Conversation {
  return {
    id: row.id,
    conversationId: row.conversationId,
    ownerId: row.ownerId,
    agentId: row.agentId,
    agentVersion: row.agentVersion ?? undefined,
    agentPath: agentPathOf(row).map(({ agentId, agentVersion, fromSeq }) => ({
      ...{ agentId, agentVersion: agentVersion ?? undefined, fromSeq },
    })),
    type: CONVERSATION_TYPES[row.type],
    status: CONVERSATION_STATUSES[row.status],
    outcome: row.outcome ? CALL_OUTCOMES[row.outcome] : Outcome.OUTCOME_UNSPECIFIED,
    analysis: row.analysis ? { items: row.analysis.map((item) => ({ error: undefined, ...item })) } : undefined,
    notes: row.notes ?? undefined,
    // A call may have no transcript; a chat always has one, even if it is empty.
    transcript: messages.length > 0 || row.type === "CHAT" ? { messages: messages.map(toMessage) } : undefined,
    createdBy: row.createdBy ?? undefined,
    metadata: row.metadata,
    lastActivityAt: row.lastActivityAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    callingType: row.callingType ? CALLING_TYPES[row.callingType] : CallingType.CALLING_TYPE_UNSPECIFIED,
    toMobileNumber: row.toMobileNumber ?? undefined,
    fromMobileNumber: row.fromMobileNumber ?? undefined,
    telephonyProvider: row.telephonyProvider ?? undefined,
    recordingUrl: row.recordingUrl ?? undefined,
    durationSeconds: row.durationSeconds ?? undefined,
    answeredAt: row.answeredAt ?? undefined,
    dynamicVariables: row.variables,
    roomUrl: row.roomUrl ?? undefined,
    roomName: row.roomName ?? undefined,
    isTestCall: row.isTestCall,
    scheduledCall: row.scheduledCall
      ? { at: new Date(row.scheduledCall.at), reason: row.scheduledCall.reason }
      : undefined,
    usage,
    startWebhook: row.start?.outcome && toStartOutcome(row.start.outcome),
    test: row.testRunId === null ? undefined : { runId: row.testRunId },
    endedBy: row.endedBy ? ENDED_BY[row.endedBy] : undefined,
    language: row.language ?? undefined,
  };
}

function toStartOutcome({ status, durationMs, error }: StartOutcome): StartWebhookOutcome {
  return { status: status ?? undefined, durationMs, error: error ?? undefined };
}

export function toChatSession(row: ConversationRow, messages: readonly MessageRow[], usage: UsageRow): ChatSession {
  return {
    sessionId: row.conversationId,
    agentId: row.agentId,
    status: CONVERSATION_STATUSES[row.status],
    messages: messages.map(toMessage),
    // Counts the messages that are too old to be shown too; one may have been added since the row was read.
    messageCount: Math.max(row.messageCount, messages.length),
    metadata: row.metadata,
    lastActivityAt: row.lastActivityAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
    usage,
  };
}

export function toSummary(row: ConversationRow): ChatSessionSummary {
  return {
    sessionId: row.conversationId,
    agentId: row.agentId,
    // A message of only white space yields no name.
    conversationName: row.name || UNNAMED,
    messageCount: row.messageCount,
    metadata: row.metadata,
    status: CONVERSATION_STATUSES[row.status],
    lastActivityAt: row.lastActivityAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export function toMessage(row: MessageRow): Message {
  return {
    role: ROLES[row.role],
    content: row.content,
    timestamp: row.createdAt,
    startedAt: row.startedAt ?? undefined,
    latency: row.latency ? TurnLatency.fromPartial(row.latency) : undefined,
    delivery: row.deliveryStatus
      ? { status: MESSAGE_DELIVERIES[row.deliveryStatus], errorCode: row.deliveryError ?? undefined }
      : undefined,
    reply: row.provider ? toReply(row, row.provider) : undefined,
    toolCalls: (row.toolCalls ?? []).map(toToolCall),
    ...(row.isFiller && { filler: true }),
    ...(row.byOperator && { byOperator: true }),
    ...(row.knowledge && { knowledge: toReplyKnowledge(row.knowledge) }),
  };
}

export function toReplyKnowledge({ status, sources, documentSets, ...known }: StoredKnowledge): ReplyKnowledge {
  return {
    ...{ ...known, documentSets: [...documentSets] },
    status: KNOWLEDGE_STATUSES[status],
    sources: sources.map(({ chunkId, score, ...source }) => ({
      ...{ ...source, chunkId: chunkId ?? undefined, score: score ?? undefined },
    })),
  };
}

export function toToolCall(row: ToolCallRow): ToolCall {
  return {
    toolCallId: row.toolCallId,
    name: row.name,
    arguments: row.arguments,
    result: row.result,
    isError: isFailed(row.state),
    isCut: row.isCut,
    state: TOOL_CALL_STATES[row.state],
    httpStatus: row.status ?? undefined,
    note: row.note ?? undefined,
    ...(row.mock !== null && { mocked: true }),
    attempts: row.attempts,
    startedMs: row.startedMs ?? undefined,
    durationMs: row.durationMs ?? undefined,
    offset: row.place,
  };
}

function toReply(row: MessageRow, providerName: string): Reply {
  return {
    providerName,
    modelName: row.model ?? "",
    inputTokens: row.inputTokens ?? undefined,
    outputTokens: row.outputTokens ?? undefined,
    costUsdMicros: row.costUsdMicros ?? undefined,
    firstWordMs: row.firstWordMs ?? undefined,
    totalMs: row.totalMs ?? undefined,
    isPartial: row.partial ?? false,
    partialReason: row.partialReason ?? undefined,
  };
}
