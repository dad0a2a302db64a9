/** An offer of G.711 and telephone events at the sender's RTP port. */
export const OFFER = [
  "v=0",
  "o=- 1 1 IN IP4 127.0.0.1",
  "s=-",
  "c=IN IP4 127.0.0.1",
  "t=0 0",
  "m=audio RTP_PORT RTP/AVP 0 8 101",
  "a=rtpmap:101 telephone-event/8000",
];

/** The number that calls and the one that is called, unless a row says otherwise. */
export const CALLER = "+14155550123";
export const CALLED = "+12145550100";

const DEFAULTS = [
  "Via: SIP/2.0/UDP 127.0.0.1:PORT;branch=z9hG4bKUNIQUE;rport",
  "Max-Forwards: 70",
  `From: <sip:${CALLER}@127.0.0.1>;tag=theirs`,
  `To: <sip:${CALLED}@127.0.0.1>`,
  "Call-ID: UNIQUE",
  "CSeq: 1 INVITE",
  "Contact: <sip:me@127.0.0.1:PORT>",
  "Content-Type: application/sdp",
];

const COMPACT: Readonly<Record<string, string>> = {
  c: "content-type",
  f: "from",
  i: "call-id",
  l: "content-length",
  m: "contact",
  t: "to",
  v: "via",
};

/**
 * An INVITE with these header lines in place of the usual ones of the same name. A line that begins with a space continues the one before.
 * `PORT`, `RTP_PORT` and `UNIQUE` are the sender's.
 */
export function invite(lines: readonly string[], { uri = `sip:${CALLED}@127.0.0.1`, body = OFFER } = {}): string {
  const given = new Set(lines.map(nameOf));
  const kept = DEFAULTS.filter((line) => !given.has(nameOf(line)));
  return raw([`INVITE ${uri} SIP/2.0`, ...kept, ...lines], body);
}

/** A message as it is, with its length unless a line says it. */
export function raw(head: readonly string[], body: readonly string[] = []): string {
  const hasLength = head.some((line) => nameOf(line) === "content-length");
  const text = body.length === 0 ? "" : `${body.join("\r\n")}\r\n`;
  return [...head, ...(hasLength ? [] : ["Content-Length: LENGTH"]), "", text].join("\r\n");
}

function nameOf(line: string): string {
  const name = (line.split(":")[0] as string).trim().toLowerCase();
  return COMPACT[name] ?? name;
}
