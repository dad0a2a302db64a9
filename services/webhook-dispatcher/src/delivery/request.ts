import type { RequestTypeName } from "../store/destinations.ts";

export interface Sent {
  /** `conversation.completed` and so on. */
  event: string;
  /** JSON. */
  payload: string;
}

/** The request that carries an event (api.md: Events, Delivery format), but for the headers that sign it. */
export function requestOf(
  url: string,
  requestType: RequestTypeName,
  sent: Sent,
): { url: string; method: RequestTypeName; body?: FormData } {
  if (requestType === "GET") return { url: withQuery(url, sent), method: "GET" };
  const body = new FormData();
  body.set("event", sent.event);
  body.set("payload", sent.payload);
  return { url, method: requestType, body };
}

/** Behind the URL's own query, which stays to the letter. %20 and not +, which not every receiver reads as a space. */
function withQuery(url: string, { event, payload }: Sent): string {
  const separator = !url.includes("?") ? "?" : /[?&]$/.test(url) ? "" : "&";
  return `${url}${separator}event=${encodeURIComponent(event)}&payload=${encodeURIComponent(payload)}`;
}
