import type { RequestTypeName } from "../store/destinations.ts";

interface Sent {
  /** For example `conversation.completed`. */
  event: string;
  /** JSON. */
  payload: string;
}

const LINE = "\r\n";
const encoder = new TextEncoder();

interface DeliveryRequest {
  url: string;
  method: RequestTypeName;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
}

/**
 * Builds the request that carries an event (docs/webhooks.md), without the signature headers.
 * @returns also the payload to sign, as a view of the body where there is one, to save a copy of a long payload
 */
export function requestOf(
  url: string,
  requestType: RequestTypeName,
  sent: Sent,
): { request: DeliveryRequest; payload: string | Uint8Array } {
  if (requestType === "GET") {
    return { request: { url: withQuery(url, sent), method: "GET", headers: {} }, payload: sent.payload };
  }
  const boundary = `parley-${crypto.randomUUID()}`;
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  const { body, payload } = formOf(boundary, sent);
  return { request: { url, method: requestType, headers, body }, payload };
}

/** Appends to the URL's own query, which stays unchanged. Uses %20 because not every receiver reads + as a space. */
function withQuery(url: string, { event, payload }: Sent): string {
  const separator = !url.includes("?") ? "?" : /[?&]$/.test(url) ? "" : "&";
  return `${url}${separator}event=${encodeURIComponent(event)}&payload=${encodeURIComponent(payload)}`;
}

/**
 * https://www.rfc-editor.org/rfc/rfc7578 for two fields. FormData would rewrite a payload's line endings, as browsers
 * must (https://html.spec.whatwg.org/#multipart-form-data), and break the signature.
 */
function formOf(boundary: string, { event, payload }: Sent) {
  const part = (name: string) => [`--${boundary}`, `Content-Disposition: form-data; name="${name}"`, "", ""].join(LINE);
  const before = encoder.encode(`${part("event")}${event}${LINE}${part("payload")}`);
  const after = encoder.encode(`${LINE}--${boundary}--${LINE}`);
  const payloadEnd = before.length + Buffer.byteLength(payload);
  const body = new Uint8Array(payloadEnd + after.length);
  const written = body.subarray(before.length, payloadEnd);
  body.set(before);
  encoder.encodeInto(payload, written);
  body.set(after, payloadEnd);
  return { body, payload: written };
}
