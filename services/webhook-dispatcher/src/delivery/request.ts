import type { RequestTypeName } from "../store/destinations.ts";

export interface Sent {
  /** `conversation.completed` and so on. */
  event: string;
  /** JSON. */
  payload: string;
}

const LINE = "\r\n";

/** The request that carries an event (api.md: Events, Delivery format), but for the headers that sign it. */
export function requestOf(
  url: string,
  requestType: RequestTypeName,
  sent: Sent,
): { url: string; method: RequestTypeName; headers: Record<string, string>; body?: Uint8Array<ArrayBuffer> } {
  if (requestType === "GET") return { url: withQuery(url, sent), method: "GET", headers: {} };
  const boundary = `parley-${crypto.randomUUID()}`;
  const headers = { "content-type": `multipart/form-data; boundary=${boundary}` };
  return { url, method: requestType, headers, body: formOf(boundary, sent) };
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
function formOf(boundary: string, { event, payload }: Sent): Uint8Array<ArrayBuffer> {
  const part = (name: string, value: string) => [
    `--${boundary}`,
    `Content-Disposition: form-data; name="${name}"`,
    "",
    value,
  ];
  const lines = [...part("event", event), ...part("payload", payload), `--${boundary}--`, ""];
  return new TextEncoder().encode(lines.join(LINE));
}
