import { readValue } from "./grammar.ts";
import { readHeaders, type SipMessage } from "./message.ts";

export const SDP = "application/sdp";

/** A multipart body in a multipart body, and no further. */
const DEPTH_MAX = 2;

/**
 * The body of this type, which may be a part of several (RFC 5621); "" if there is none. A body without a Content-Type has every type.
 */
export function bodyOf(message: SipMessage, type: string): string {
  return message.body === "" ? "" : (found(message, type, DEPTH_MAX) ?? "");
}

/** Whether we must refuse what we cannot read (RFC 3261, section 20.11; RFC 5621, section 5). */
export function isBodyRequired({ headers, body }: SipMessage): boolean {
  const { params } = dispositionOf(headers);
  return (
    body !== "" &&
    !isMultipart(headers.get("content-type")?.[0] ?? "") &&
    params.get("handling")?.toLowerCase() !== "optional"
  );
}

function dispositionOf(headers: SipMessage["headers"]) {
  return readValue(headers.get("content-disposition")?.[0] ?? "");
}

type Part = Pick<SipMessage, "headers" | "body">;

function found({ headers, body }: Part, type: string, depth: number): string | null {
  const { value, params } = readValue(headers.get("content-type")?.[0] ?? "");
  const given = value.toLowerCase();
  const encoding = headers.get("content-encoding")?.[0]?.toLowerCase() ?? "identity";
  // The description of what plays before the answer (RFC 3959).
  if (dispositionOf(headers).value.toLowerCase() === "early-session") return null;
  if (given === type || given === "") return encoding === "identity" ? body : null;
  const boundary = params.get("boundary");
  if (!isMultipart(given) || boundary === undefined || depth === 0) return null;
  for (const part of partsOf(body, boundary)) {
    const inside = found(part, type, depth - 1);
    if (inside !== null) return inside;
  }
  return null;
}

function isMultipart(type: string): boolean {
  return /^multipart\//i.test(type);
}

/** RFC 2046, section 5.1: lines of the boundary stand between the parts, and the last one ends with two dashes or with the body. */
function partsOf(body: string, boundary: string): Part[] {
  const parts: string[][] = [];
  for (const line of body.split(/\r?\n/)) {
    const end = line.trimEnd();
    if (end === `--${boundary}--`) break;
    if (end === `--${boundary}`) parts.push([]);
    else parts.at(-1)?.push(line);
  }
  return parts.map((lines) => {
    const headEnd = lines.indexOf("");
    const head = headEnd < 0 ? lines : lines.slice(0, headEnd);
    // A part that does not say its type is text (RFC 2046, section 5.1).
    const headers = new Map([["content-type", ["text/plain"]], ...(readHeaders(head.join("\r\n")) ?? [])]);
    return { headers, body: headEnd < 0 ? "" : `${lines.slice(headEnd + 1).join("\r\n")}\r\n` };
  });
}
