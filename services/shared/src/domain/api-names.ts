import { KeyStatus, Tier } from "@parley/proto/parley/account/v1/account.ts";
import { AgentType, FieldType, Gender, Publishing } from "@parley/proto/parley/agent/v1/agent.ts";
import {
  CallingType,
  ConversationStatus,
  ConversationType,
  Delivery_Status,
  EndedBy,
  KnowledgeStatus,
  Outcome,
  Role,
  ToolCallState,
} from "@parley/proto/parley/conversation/v1/conversation.ts";
import { DocumentStatus } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import { PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { CallStatus, Voicemail } from "@parley/proto/parley/voice/v1/call.ts";
import { CallBatchStatus } from "@parley/proto/parley/voice/v1/call_batch.ts";
import { RegistrationState } from "@parley/proto/parley/voice/v1/trunk.ts";
import { DeliveryStatus, RequestType, RetrySchedule } from "@parley/proto/parley/webhook/v1/webhook.ts";

/** The scopes that a key can have (docs/api-reference.md#scopes). */
export const SCOPES = [
  "*",
  "agents:read",
  "agents:write",
  "agents:override",
  "tests:read",
  "tests:run",
  "prompts:read",
  "prompts:write",
  "tools:read",
  "tools:write",
  "knowledge:read",
  "knowledge:write",
  "conversations:read",
  "conversations:control",
  "conversations:listen",
  "chat",
  "messages",
  "calls",
  "catalogue:read",
] as const;

/** Providers of voices. */
export const TTS_PROVIDERS = ["ELEVENLABS", "CARTESIA", "DEEPGRAM", "OPENAI", "GOOGLE"] as const;

/** Values of `telephony_provider`. */
export const CARRIERS = ["TWILIO", "PLIVO"] as const;

// The names of protocol numbers in the API, the command line and the tables.

export const PUBLISHINGS = {
  auto: Publishing.PUBLISHING_AUTO,
  manual: Publishing.PUBLISHING_MANUAL,
} as const;

export const TIERS = {
  free: Tier.TIER_FREE,
  pro: Tier.TIER_PRO,
  enterprise: Tier.TIER_ENTERPRISE,
} as const;

export const KEY_STATUSES = {
  active: KeyStatus.KEY_STATUS_ACTIVE,
  inactive: KeyStatus.KEY_STATUS_INACTIVE,
  expired: KeyStatus.KEY_STATUS_EXPIRED,
} as const;

export const AGENT_TYPES = {
  INBOUND: AgentType.AGENT_TYPE_INBOUND,
  OUTBOUND: AgentType.AGENT_TYPE_OUTBOUND,
} as const;

/** Types of dynamic variables. */
export const FIELD_TYPES = {
  STRING: FieldType.FIELD_TYPE_STRING,
  NUMBER: FieldType.FIELD_TYPE_NUMBER,
  EMAIL: FieldType.FIELD_TYPE_EMAIL,
  PHONE: FieldType.FIELD_TYPE_PHONE,
} as const;

/** Genders of voices. */
export const GENDERS = {
  MALE: Gender.GENDER_MALE,
  FEMALE: Gender.GENDER_FEMALE,
  NEUTRAL: Gender.GENDER_NEUTRAL,
} as const;

export const PROMPT_TYPES = {
  main: PromptType.PROMPT_TYPE_MAIN,
  analysis: PromptType.PROMPT_TYPE_ANALYSIS,
} as const;

export const DOCUMENT_STATUSES = {
  PENDING: DocumentStatus.DOCUMENT_STATUS_PENDING,
  READY: DocumentStatus.DOCUMENT_STATUS_READY,
  FAILED: DocumentStatus.DOCUMENT_STATUS_FAILED,
} as const;

export const KNOWLEDGE_STATUSES = {
  ok: KnowledgeStatus.KNOWLEDGE_STATUS_OK,
  partial: KnowledgeStatus.KNOWLEDGE_STATUS_PARTIAL,
  timed_out: KnowledgeStatus.KNOWLEDGE_STATUS_TIMED_OUT,
  unavailable: KnowledgeStatus.KNOWLEDGE_STATUS_UNAVAILABLE,
} as const;

export const CONVERSATION_TYPES = {
  DAILY: ConversationType.CONVERSATION_TYPE_DAILY,
  TELEPHONY: ConversationType.CONVERSATION_TYPE_TELEPHONY,
  WHATSAPP: ConversationType.CONVERSATION_TYPE_WHATSAPP,
  CHAT: ConversationType.CONVERSATION_TYPE_CHAT,
  WEB: ConversationType.CONVERSATION_TYPE_WEB,
} as const;

export const CONVERSATION_STATUSES = {
  IN_PROGRESS: ConversationStatus.CONVERSATION_STATUS_IN_PROGRESS,
  COMPLETED: ConversationStatus.CONVERSATION_STATUS_COMPLETED,
  DISCONNECTED: ConversationStatus.CONVERSATION_STATUS_DISCONNECTED,
  FAILED: ConversationStatus.CONVERSATION_STATUS_FAILED,
} as const;

export const CALLING_TYPES = {
  INBOUND: CallingType.CALLING_TYPE_INBOUND,
  OUTBOUND: CallingType.CALLING_TYPE_OUTBOUND,
} as const;

/** Delivery statuses of a message that was sent over a channel. */
export const MESSAGE_DELIVERIES = {
  sent: Delivery_Status.STATUS_SENT,
  delivered: Delivery_Status.STATUS_DELIVERED,
  read: Delivery_Status.STATUS_READ,
  failed: Delivery_Status.STATUS_FAILED,
} as const;

export const CALL_STATUSES = {
  QUEUED: CallStatus.CALL_STATUS_QUEUED,
  RINGING: CallStatus.CALL_STATUS_RINGING,
  IN_PROGRESS: CallStatus.CALL_STATUS_IN_PROGRESS,
  ENDED: CallStatus.CALL_STATUS_ENDED,
} as const;

export const REGISTRATION_STATES = {
  REGISTERING: RegistrationState.REGISTRATION_STATE_REGISTERING,
  REGISTERED: RegistrationState.REGISTRATION_STATE_REGISTERED,
  REFUSED: RegistrationState.REGISTRATION_STATE_REFUSED,
  UNREACHABLE: RegistrationState.REGISTRATION_STATE_UNREACHABLE,
} as const;

export const CALL_OUTCOMES = {
  SUCCESS: Outcome.OUTCOME_SUCCESS,
  NO_ANSWER: Outcome.OUTCOME_NO_ANSWER,
  BUSY: Outcome.OUTCOME_BUSY,
  CANCELLED: Outcome.OUTCOME_CANCELLED,
  HUNG_UP_EARLY: Outcome.OUTCOME_HUNG_UP_EARLY,
  ERROR: Outcome.OUTCOME_ERROR,
} as const;

export const ENDED_BY = {
  user: EndedBy.ENDED_BY_USER,
  agent: EndedBy.ENDED_BY_AGENT,
  operator: EndedBy.ENDED_BY_OPERATOR,
  system: EndedBy.ENDED_BY_SYSTEM,
} as const;

/** What a call does when a voicemail answers. */
export const VOICEMAILS = {
  hang_up: Voicemail.VOICEMAIL_HANG_UP,
  leave_message: Voicemail.VOICEMAIL_LEAVE_MESSAGE,
} as const;

export const CALL_BATCH_STATUSES = {
  RUNNING: CallBatchStatus.CALL_BATCH_STATUS_RUNNING,
  PAUSED: CallBatchStatus.CALL_BATCH_STATUS_PAUSED,
  CANCELLED: CallBatchStatus.CALL_BATCH_STATUS_CANCELLED,
  ENDED: CallBatchStatus.CALL_BATCH_STATUS_ENDED,
} as const;

/** The outcomes after which a batch may call a number again. */
export const REPEATED_OUTCOMES = {
  busy: Outcome.OUTCOME_BUSY,
  no_answer: Outcome.OUTCOME_NO_ANSWER,
  error: Outcome.OUTCOME_ERROR,
} as const;

/** Roles of a message. */
export const ROLES = { user: Role.ROLE_USER, assistant: Role.ROLE_ASSISTANT, person: Role.ROLE_PERSON } as const;

/** What became of a tool call. */
export const TOOL_CALL_STATES = {
  REQUESTED: ToolCallState.TOOL_CALL_STATE_REQUESTED,
  RUNNING: ToolCallState.TOOL_CALL_STATE_RUNNING,
  SUCCEEDED: ToolCallState.TOOL_CALL_STATE_SUCCEEDED,
  FAILED: ToolCallState.TOOL_CALL_STATE_FAILED,
  CANCELLED: ToolCallState.TOOL_CALL_STATE_CANCELLED,
  UNKNOWN: ToolCallState.TOOL_CALL_STATE_UNKNOWN,
} as const;

export const REQUEST_TYPES = {
  GET: RequestType.REQUEST_TYPE_GET,
  POST: RequestType.REQUEST_TYPE_POST,
  PATCH: RequestType.REQUEST_TYPE_PATCH,
  PUT: RequestType.REQUEST_TYPE_PUT,
} as const;

export const RETRY_SCHEDULES = {
  standard: RetrySchedule.RETRY_SCHEDULE_STANDARD,
  extended: RetrySchedule.RETRY_SCHEDULE_EXTENDED,
} as const;

export const DELIVERY_STATUSES = {
  pending: DeliveryStatus.DELIVERY_STATUS_PENDING,
  delivered: DeliveryStatus.DELIVERY_STATUS_DELIVERED,
  failed: DeliveryStatus.DELIVERY_STATUS_FAILED,
  cancelled: DeliveryStatus.DELIVERY_STATUS_CANCELLED,
} as const;

/** The name of a number; undefined for an unspecified or unknown one. */
export function nameOf<N extends string>(numbers: Readonly<Record<N, number>>, wanted: number): N | undefined {
  for (const name in numbers) if (numbers[name] === wanted) return name;
  return undefined;
}

/** The number of a name; without one 0, which is "unspecified" in every enum. */
export function numberOf<N extends string, V extends number>(
  numbers: Readonly<Record<N, V>>,
  name: N | undefined,
): V | 0 {
  return name === undefined ? 0 : numbers[name];
}

/** All names, in the order to show them. */
export function namesOf<N extends string>(numbers: Readonly<Record<N, number>>): N[] {
  return Object.keys(numbers) as N[];
}
