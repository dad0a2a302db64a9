import type { AppendTranscriptRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { nameOf, ROLES } from "@parley/shared/domain/api-names";
import { invalid, ServiceError, withMetadata } from "@parley/shared/errors";
import { isLonger } from "@parley/shared/text/length";
import type { NewMessage } from "../store/calls.ts";
import { storable } from "../store/storable.ts";
import { latencyOf } from "./latency.ts";

const CONTENT_MAX = 100_000;

/** The messages to store from a batch of requests, up to the first invalid one. */
interface Taken {
  messages: NewMessage[];
  refusal: ServiceError | null;
}

/** Takes the messages after `lastSequence`; skips those up to it, which are already stored. */
export function takeMessages(requests: readonly AppendTranscriptRequest[], lastSequence: number, now: Date): Taken {
  const messages: NewMessage[] = [];
  for (const request of requests) {
    const expected = lastSequence + messages.length + 1;
    try {
      if (request.sequence < 1)
        throw invalid("sequence", "sequence must be 1 for the first message, 2 for the next, …");
      if (request.sequence > expected) throw gap(expected, request.sequence);
      if (request.sequence === expected) messages.push(toMessage(request, now));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return { messages, refusal: withLastSequence(error, expected - 1) };
    }
  }
  return { messages, refusal: null };
}

/** Adds the sequence from which the runtime can resume to an error. */
export function withLastSequence(error: ServiceError, lastSequence: number): ServiceError {
  return withMetadata(error, { last_sequence: String(lastSequence) });
}

export function gap(expected: number, came: number): ServiceError {
  return new ServiceError("condition", `Message ${expected} is missing: send ${expected} before ${came}`);
}

/** Returns a text as it can be stored. @throws ServiceError invalid when it is empty or too long */
export function checkContent(field: string, given: string): string {
  const content = storable(given);
  if (content === "" || isLonger(content, CONTENT_MAX)) {
    throw invalid(field, `${field} must be 1 to ${CONTENT_MAX} characters`);
  }
  return content;
}

function toMessage({ sequence, message }: AppendTranscriptRequest, now: Date): NewMessage {
  const role = message && nameOf(ROLES, message.role);
  if (!role) throw invalid("message.role", "message.role must be USER, ASSISTANT or PERSON");
  const content = checkContent("message.content", message.content);
  const createdAt = timeOf("message.timestamp", message.timestamp) ?? now;
  const startedAt = timeOf("message.started_at", message.startedAt) ?? null;
  const latency = role === "assistant" ? latencyOf("message.latency", message.latency) : null;
  const byOperator = role === "assistant" && message.byOperator === true;
  return { seq: sequence, role, content, createdAt, startedAt, latency, byOperator };
}

/** @throws ServiceError invalid for a time outside the four-digit years of ISO 8601 */
export function timeOf(field: string, timestamp: Date | undefined): Date | undefined {
  if (timestamp === undefined) return undefined;
  const year = timestamp.getUTCFullYear();
  if (year >= 1970 && year <= 9999) return timestamp;
  throw invalid(field, `${field} must be between the years 1970 and 9999`);
}
