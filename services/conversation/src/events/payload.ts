import { presentKnowledge } from "@parley/shared/domain/present/conversation";
import { charactersOf } from "@parley/shared/text/length";
import { toReplyKnowledge } from "../convert.ts";
import { agentPathOf } from "../store/agent-path.ts";
import { PAYLOAD_BYTES_MAX } from "../store/events/payload-bounds.ts";
import type { PayloadMessage, PayloadSource } from "../store/events/payload-sources.ts";
import { isFailed, type ToolCallRow } from "../store/turns/kept-tool-calls.ts";

/** A shorter transcript has at most 600 KB as JSON, however it is escaped. */
const SHORT_CHARACTERS = 100_000;

/**
 * Builds the webhook payload of an ended conversation (docs/webhooks.md), at most `PAYLOAD_BYTES_MAX` bytes. Leaves out
 * optional fields that have no value; transcript and analysis are always arrays.
 */
export function endPayload(event: string, source: PayloadSource): string {
  const { messages } = source;
  // A long transcript is not escaped as a whole to find that it is too long: that takes many milliseconds.
  if (charactersOf(messages, SHORT_CHARACTERS) < SHORT_CHARACTERS || fits(event, source)) {
    const whole = payloadOf(event, source);
    if (Buffer.byteLength(whole) <= PAYLOAD_BYTES_MAX) return whole;
  }
  const rest = { ...source, messages: [], isTranscriptTruncated: true };
  return payloadOf(event, { ...rest, messages: newestWithin(messages, bytesLeft(event, rest)) });
}

function fits(event: string, source: PayloadSource): boolean {
  const left = bytesLeft(event, { ...source, messages: [] });
  return newestWithin(source.messages, left).length === source.messages.length;
}

/** The bytes that a payload with this source has room for. */
function bytesLeft(event: string, source: PayloadSource): number {
  return PAYLOAD_BYTES_MAX - Buffer.byteLength(payloadOf(event, source));
}

function payloadOf(event: string, source: PayloadSource): string {
  return JSON.stringify({
    event,
    id: source.id,
    conversation_id: source.conversationId,
    agent_id: source.agentId,
    agent_version: source.agentVersion,
    last_agent_id: agentPathOf(source).at(-1)?.agentId,
    conversation_type: source.type,
    conversation_status: source.status,
    notes: source.notes,
    // JSON.stringify leaves out undefined fields.
    conversation_duration: source.durationSeconds ?? undefined,
    conversation_recording_url: source.recordingUrl ?? undefined,
    calling_type: source.callingType ?? undefined,
    telephony_provider: source.telephonyProvider ?? undefined,
    to_mobile_number: source.toMobileNumber ?? undefined,
    from_mobile_number: source.fromMobileNumber ?? undefined,
    is_test_call: source.isTestCall,
    scheduled_call: source.scheduledCall ?? undefined,
    dynamic_variables: source.variables ?? undefined,
    conversation_transcript: source.messages.map(presentMessage),
    conversation_transcript_truncated: source.isTranscriptTruncated || undefined,
    conversation_analysis: (source.analysis ?? []).map(({ name, value, type, error }) => ({
      name,
      value,
      type,
      error,
    })),
    conversation_analysis_truncated: source.isAnalysisTruncated || undefined,
  });
}

/** The same form as in GET /conversations/{conversation_id}. */
function presentMessage({ role, content, createdAt, toolCalls = [], knowledge }: PayloadMessage) {
  const calls = toolCalls.length > 0 ? toolCalls.map(presentCall) : undefined;
  const known = knowledge && presentKnowledge(toReplyKnowledge(knowledge));
  return { role, content, timestamp: createdAt.toISOString(), tool_calls: calls, ...known };
}

function presentCall(call: ToolCallRow) {
  return {
    tool_call_id: call.toolCallId,
    name: call.name,
    arguments: call.arguments,
    result: call.result,
    status: call.state,
    is_error: isFailed(call.state),
    is_cut: call.isCut,
    http_status: call.status,
    note: call.note,
    attempts: call.attempts,
    started_ms: call.startedMs,
    duration_ms: call.durationMs,
    offset: call.place,
  };
}

function newestWithin(messages: readonly PayloadMessage[], bytesMax: number): PayloadMessage[] {
  let from = messages.length;
  let bytes = 0;
  for (const message of messages.toReversed()) {
    // Plus one for the comma.
    bytes += Buffer.byteLength(JSON.stringify(presentMessage(message))) + 1;
    if (bytes > bytesMax) break;
    from--;
  }
  return messages.slice(from);
}
