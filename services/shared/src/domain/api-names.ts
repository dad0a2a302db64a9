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
import { AgentState, TransferState } from "@parley/proto/parley/conversation/v1/live.ts";
import { DocumentStatus } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import { PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { CallStatus, Voicemail } from "@parley/proto/parley/voice/v1/call.ts";
import { CallBatchStatus } from "@parley/proto/parley/voice/v1/call_batch.ts";
import { RegistrationState } from "@parley/proto/parley/voice/v1/trunk.ts";
import { DeliveryStatus, RequestType, RetrySchedule } from "@parley/proto/parley/webhook/v1/webhook.ts";
import { lowerNamed, named } from "./named.ts";

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

export const PUBLISHINGS = lowerNamed(Publishing, "PUBLISHING");
export const TIERS = lowerNamed(Tier, "TIER");
export const KEY_STATUSES = lowerNamed(KeyStatus, "KEY_STATUS");
export const AGENT_TYPES = named(AgentType, "AGENT_TYPE");
/** Types of dynamic variables. */
export const FIELD_TYPES = named(FieldType, "FIELD_TYPE");
/** Genders of voices. */
export const GENDERS = named(Gender, "GENDER");
export const PROMPT_TYPES = lowerNamed(PromptType, "PROMPT_TYPE");
export const DOCUMENT_STATUSES = named(DocumentStatus, "DOCUMENT_STATUS");
export const KNOWLEDGE_STATUSES = lowerNamed(KnowledgeStatus, "KNOWLEDGE_STATUS");
export const CONVERSATION_TYPES = named(ConversationType, "CONVERSATION_TYPE");
export const CONVERSATION_STATUSES = named(ConversationStatus, "CONVERSATION_STATUS");
export const CALLING_TYPES = named(CallingType, "CALLING_TYPE");
/** Delivery statuses of a message that was sent over a channel. */
export const MESSAGE_DELIVERIES = lowerNamed(Delivery_Status, "STATUS");
export const CALL_STATUSES = named(CallStatus, "CALL_STATUS");
export const REGISTRATION_STATES = named(RegistrationState, "REGISTRATION_STATE");
export const CALL_OUTCOMES = named(Outcome, "OUTCOME");
export const ENDED_BY = lowerNamed(EndedBy, "ENDED_BY");
/** What a call does when a voicemail answers. */
export const VOICEMAILS = lowerNamed(Voicemail, "VOICEMAIL");
export const CALL_BATCH_STATUSES = named(CallBatchStatus, "CALL_BATCH_STATUS");

/** The outcomes after which a batch may call a number again. */
export const REPEATED_OUTCOMES = {
  busy: Outcome.OUTCOME_BUSY,
  no_answer: Outcome.OUTCOME_NO_ANSWER,
  error: Outcome.OUTCOME_ERROR,
} as const;

/** Roles of a message. */
export const ROLES = lowerNamed(Role, "ROLE");
/** What became of a tool call. */
export const TOOL_CALL_STATES = named(ToolCallState, "TOOL_CALL_STATE");
/** What watchers are told of the agent of a call, and of a transfer. */
export const AGENT_STATES = lowerNamed(AgentState, "AGENT_STATE");
export const TRANSFER_STATES = lowerNamed(TransferState, "TRANSFER_STATE");
export const REQUEST_TYPES = named(RequestType, "REQUEST_TYPE");
export const RETRY_SCHEDULES = lowerNamed(RetrySchedule, "RETRY_SCHEDULE");
export const DELIVERY_STATUSES = lowerNamed(DeliveryStatus, "DELIVERY_STATUS");

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
