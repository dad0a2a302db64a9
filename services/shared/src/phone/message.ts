/** A SIP message as a caller reads and writes it (RFC 3261, section 7). */
export interface Message {
  /** The first line. */
  start: string;
  /** The status of a response; absent for a request. */
  status?: number;
  headers: [name: string, value: string][];
  body: string;
}

/** Returns null for what is not a SIP message, such as a keep-alive. */
export function readMessage(text: string): Message | null {
  const [head = "", body = ""] = text.split("\r\n\r\n", 2);
  const [start = "", ...lines] = head.split("\r\n");
  if (!start.includes("SIP/2.0")) return null;
  const status = /^SIP\/2\.0 (\d{3})/.exec(start)?.[1];
  const headers = lines.map((line): [string, string] => {
    const colon = line.indexOf(":");
    return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
  });
  return { start, ...(status && { status: Number(status) }), headers, body };
}

export function writeMessage({ start, headers, body }: Message): string {
  const lines = headers.map(([name, value]) => `${name}: ${value}`);
  return [start, ...lines, `Content-Length: ${Buffer.byteLength(body)}`, "", body].join("\r\n");
}

/** The first header of that name, in lower case; "" if there is none. */
export function headerOf({ headers }: Message, wanted: string): string {
  return headers.find(([name]) => name.toLowerCase() === wanted)?.[1] ?? "";
}
