import type { ByteRange } from "@parley/proto/parley/voice/v1/voice_service.ts";

/**
 * The one range that a request asks for (RFC 9110, section 14.2); null for the whole, which is also the answer to a header that is
 * malformed or has several ranges.
 */
export function rangeOf(headers: Headers): ByteRange | null {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(headers.get("range")?.trim() ?? "") ?? [];
  if (first === "") return last === "" ? null : { first: undefined, last: undefined, suffixLength: Number(last) };
  if (last !== "" && Number(last) < Number(first)) return null;
  return { first: Number(first), last: last === "" ? undefined : Number(last), suffixLength: undefined };
}
