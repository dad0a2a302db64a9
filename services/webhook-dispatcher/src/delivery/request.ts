import type { RequestTypeName } from "../store/destinations.ts";

export interface Sent {
  /** `conversation.completed` and so on. */
  event: string;
  /** JSON. */
  payload: string;
}

const LINE = "\r\n";
const encoder = new TextEncoder();

export interface DeliveryRequest {
  url: string;
  method: RequestTypeName;
  headers: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
}

/**
 * The request that carries an event (docs/webhooks.md), but for the headers that sign it.
 * @returns also the payload to sign: a part of the body, where there is one, since another copy of a long one costs memory
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

/** Behind the URL's own query, which stays to the letter. %20 and not +, which not every receiver reads as a space. */
function withQuery(url: string, { event, payload }: Sent): string {
  const separator = !url.includes("?") ? "?" : /[?&]$/.test(url) ? "" : "&";
  return `${url}${separator}event=${encodeURIComponent(event)}&payload=${encodeURIComponent(payload)}`;
}

/**
 * https://www.rfc-editor.org/rfc/rfc7578 for two fields. FormData would rewrite a payload's line ends, as browsers must
 * (https://html.spec.whatwg.org/#multipart-form-data), and the signature would no longer be that of what arrives.
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
