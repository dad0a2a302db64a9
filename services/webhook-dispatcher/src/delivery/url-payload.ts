import type { RequestTypeName } from "../store/destinations.ts";

/** Limit for a payload in a URL: no common server accepts a longer one, and encoding can triple it. */
const URL_PAYLOAD_BYTES_MAX = 64 * 1024;

/**
 * The payload as the destination receives it. One too long for the URL of a GET loses transcript and analysis, and says
 * so, or the object that it is about (docs/webhooks.md).
 */
export function payloadFor(requestType: RequestTypeName, payload: string): string {
  if (requestType !== "GET" || Buffer.byteLength(payload) <= URL_PAYLOAD_BYTES_MAX) return payload;
  const whole = JSON.parse(payload);
  if (!("conversation_transcript" in whole)) {
    const { event, id, created_at, conversation_id } = whole;
    return JSON.stringify({ event, id, created_at, conversation_id });
  }
  return JSON.stringify({
    ...whole,
    conversation_transcript: [],
    conversation_transcript_truncated: true,
    conversation_analysis: [],
    conversation_analysis_truncated: true,
  });
}
