import { split } from "./grammar.ts";

/** Header values by lower-case name, in the order in which they came; lists are one value an entry. */
type SipHeaders = Map<string, string[]>;

export interface SipRequest {
  method: string;
  uri: string;
  headers: SipHeaders;
  body: string;
}

export interface SipResponse {
  status: number;
  reason: string;
  headers: SipHeaders;
  body: string;
}

export type SipMessage = SipRequest | SipResponse;

const HEADERS_MAX = 128;
/** A token (RFC 3261, section 25.1); methods are ours in capitals only. */
const METHOD = "[A-Za-z0-9.!%*_+`'~-]{1,64}";
const REQUEST_LINE = new RegExp(`^(${METHOD}) (\\S{1,1024}) SIP/2\\.0$`);
const CSEQ = new RegExp(`^(\\d{1,10})[ \\t]+(${METHOD})$`);
const STATUS_LINE = /^SIP\/2\.0 ([1-6]\d\d)(?: (.*))?$/;
const HEADER = /^([A-Za-z0-9\-.!%*_+`'~]+)[ \t]*:(.*)$/;

/** RFC 3261, section 7.3.3, and the extensions that peers use. */
const COMPACT: Readonly<Record<string, string>> = {
  c: "content-type",
  e: "content-encoding",
  f: "from",
  i: "call-id",
  k: "supported",
  l: "content-length",
  m: "contact",
  r: "refer-to",
  s: "subject",
  t: "to",
  v: "via",
  x: "session-expires",
};

/** The headers whose commas separate values. */
const LISTS: ReadonlySet<string> = new Set([
  "via",
  "route",
  "record-route",
  "contact",
  "p-asserted-identity",
  "remote-party-id",
  "require",
  "supported",
  "allow",
]);

/** Without these nothing can be answered (RFC 3261, section 8.1.1). */
const REQUIRED = ["via", "from", "to", "call-id", "cseq"];
/** A second one might be read by others instead (section 7.3.1). */
const SINGLE = ["from", "to", "call-id", "cseq", "content-length"];

/** Returns null if it is not a complete SIP message. */
export function readSip(bytes: Buffer): SipMessage | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return null;
  const head = bytes.toString("utf8", 0, headEnd);
  const startEnd = head.includes("\r\n") ? head.indexOf("\r\n") : head.length;
  const start = head.slice(0, startEnd);
  const headers = readHeaders(head.slice(startEnd + 2));
  if (!headers || REQUIRED.some((name) => !headers.has(name))) return null;
  if (SINGLE.some((name) => (headers.get(name)?.length ?? 0) > 1)) return null;
  const body = readBody(headers, bytes.subarray(headEnd + 4));
  if (body === null) return null;
  const request = REQUEST_LINE.exec(start);
  if (request) return { method: request[1] as string, uri: request[2] as string, headers, body };
  const response = STATUS_LINE.exec(start);
  if (response) return { status: Number(response[1]), reason: response[2] ?? "", headers, body };
  return null;
}

export function writeSip(message: SipMessage): string {
  const start = isRequest(message)
    ? `${message.method} ${message.uri} SIP/2.0`
    : `SIP/2.0 ${message.status} ${message.reason}`;
  const lines = [...message.headers].flatMap(([name, values]) => values.map((value) => `${titled(name)}: ${value}`));
  const length = `Content-Length: ${Buffer.byteLength(message.body)}`;
  return [start, ...lines, length, "", message.body].join("\r\n");
}

export function isRequest(message: SipMessage): message is SipRequest {
  return "method" in message;
}

/** The first value of a header, or "". */
export function headerOf({ headers }: SipMessage, name: string): string {
  return headers.get(name)?.[0] ?? "";
}

export function headersOf(entries: Readonly<Record<string, string | readonly string[]>>): SipHeaders {
  return new Map(
    Object.entries(entries)
      .map(([name, value]): [string, string[]] => [name, typeof value === "string" ? [value] : [...value]])
      .filter(([, values]) => values.length > 0),
  );
}

export function cseqOf(message: SipMessage): { number: number; method: string } | null {
  const [, number, method] = CSEQ.exec(headerOf(message, "cseq")) ?? [];
  return number && method ? { number: Number(number), method } : null;
}

/** Reads header lines, of which some may be continued by the next. Returns null if one is no header, or if there are too many. */
export function readHeaders(text: string): SipHeaders | null {
  const lines = text
    .replaceAll(/\r\n[ \t]+/g, " ")
    .split("\r\n")
    .filter((line) => line !== "");
  if (lines.length > HEADERS_MAX) return null;
  const headers: SipHeaders = new Map();
  for (const line of lines) {
    const [, given, value] = HEADER.exec(line) ?? [];
    if (given === undefined || value === undefined) return null;
    const name = COMPACT[given.toLowerCase()] ?? given.toLowerCase();
    const values = LISTS.has(name) ? split(value, ",") : [value.trim()];
    headers.set(name, [...(headers.get(name) ?? []), ...values]);
  }
  return headers;
}

/** The length of the body; without the header, a body ends with its datagram. */
function readBody(headers: SipHeaders, rest: Buffer): string | null {
  const given = headers.get("content-length")?.[0];
  if (given === undefined) return rest.toString();
  if (!/^\d{1,6}$/.test(given)) return null;
  const length = Number(given);
  return rest.length < length ? null : rest.toString("utf8", 0, length);
}

function titled(name: string): string {
  if (name === "call-id") return "Call-ID";
  if (name === "cseq") return "CSeq";
  if (name === "www-authenticate") return "WWW-Authenticate";
  return name.replaceAll(/(^|-)[a-z]/g, (letter) => letter.toUpperCase());
}
