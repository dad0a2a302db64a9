import {
  CallingType,
  type ChatSession,
  type ChatSessionSummary,
  type Conversation,
  ConversationStatus,
  ConversationType,
  type Message,
  Role,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import { nameOf } from "@parley/shared/api-names";
import type { ConversationRow, StatusName, TypeName } from "./store/conversations.ts";
import type { MessageRow, UsageRow } from "./store/messages.ts";

const TYPES: Record<TypeName, ConversationType> = {
  CHAT: ConversationType.CONVERSATION_TYPE_CHAT,
  TELEPHONY: ConversationType.CONVERSATION_TYPE_TELEPHONY,
  WHATSAPP: ConversationType.CONVERSATION_TYPE_WHATSAPP,
  DAILY: ConversationType.CONVERSATION_TYPE_DAILY,
};
const STATUSES: Record<StatusName, ConversationStatus> = {
  IN_PROGRESS: ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS,
  COMPLETED: ConversationStatus.CONVERSATION_STATUS_COMPLETED,
  DISCONNECTED: ConversationStatus.CONVERSATION_STATUS_DISCONNECTED,
  FAILED: ConversationStatus.CONVERSATION_STATUS_FAILED,
};
const CALLING_TYPES = {
  INBOUND: CallingType.CALLING_TYPE_INBOUND,
  OUTBOUND: CallingType.CALLING_TYPE_OUTBOUND,
} as const;
const ROLES = { user: Role.ROLE_USER, assistant: Role.ROLE_ASSISTANT } as const;

const UNNAMED = "New chat";

/** The name a number of the protocol stands for, null when it is unspecified. */
export const typeName = (type: ConversationType) => nameOf(TYPES, type) ?? null;
export const statusName = (status: ConversationStatus) => nameOf(STATUSES, status) ?? null;
export const callingTypeName = (type: CallingType) => nameOf(CALLING_TYPES, type) ?? null;
export const roleName = (role: Role) => nameOf(ROLES, role) ?? null;
export const statusOf = (name: StatusName): ConversationStatus => STATUSES[name];

export function toConversation(row: ConversationRow, messages: readonly MessageRow[]): Conversation {
  return {
    id: row.id,
    conversationId: row.conversationId,
    ownerId: row.ownerId,
    agentId: row.agentId,
    type: TYPES[row.type],
    status: STATUSES[row.status],
    analysis: row.analysis ? { items: row.analysis.map((item) => ({ error: undefined, ...item })) } : undefined,
    notes: row.notes ?? undefined,
    // A call may have kept none; a chat always has one, be it empty.
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
    dynamicVariables: row.variables,
    roomUrl: row.roomUrl ?? undefined,
    roomName: row.roomName ?? undefined,
    isTestCall: row.isTestCall,
  };
}

export function toChatSession(row: ConversationRow, messages: readonly MessageRow[], usage: UsageRow): ChatSession {
  return {
    sessionId: row.conversationId,
    agentId: row.agentId,
    status: STATUSES[row.status],
    messages: messages.map(toMessage),
    messageCount: messages.length,
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
    // A message of white space alone gives no name.
    conversationName: row.name || UNNAMED,
    messageCount: row.messageCount,
    metadata: row.metadata,
    status: STATUSES[row.status],
    lastActivityAt: row.lastActivityAt,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

function toMessage(row: MessageRow): Message {
  return { role: ROLES[row.role], content: row.content, timestamp: row.createdAt };
}
