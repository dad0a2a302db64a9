import { createSocket } from "node:dgram";

/** A name server on loopback with answers from a test. */
export interface NameServer extends Disposable {
  /** ip:port. */
  address: string;
  /** Names asked for and left unanswered. */
  unanswered: ReadonlySet<string>;
}

const HEADER_BYTES = 12;
const IPV4 = 1;
const FOUND = 0x8180;
const NO_SUCH_NAME = 0x8183;

/**
 * Serves DNS over UDP (RFC 1035).
 * @param answer returns a name's IPv4 address, null for none, or "silence" to leave the query unanswered
 */
export async function startNameServer(
  answer: (name: string) => string | null | "silence",
  listenOn = { address: "127.0.0.1", port: 0 },
): Promise<NameServer> {
  const socket = createSocket("udp4");
  const unanswered = new Set<string>();
  socket.on("message", (query, client) => {
    const { name, type, end } = questionOf(query);
    const found = answer(name);
    if (found === "silence") unanswered.add(name);
    else
      socket.send(
        answerTo(query.subarray(0, end), type === IPV4 ? found : null, found !== null),
        client.port,
        client.address,
      );
  });
  await new Promise<void>((resolve, reject) => {
    socket.once("error", reject);
    socket.bind(listenOn.port, listenOn.address, resolve);
  });
  const { address, port } = socket.address();
  return { address: `${address}:${port}`, unanswered, [Symbol.dispose]: () => socket.close() };
}

function questionOf(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}

function answerTo(question: Buffer, ip: string | null, exists: boolean): Buffer {
  const counts = [1, ip === null ? 0 : 1, 0, 0];
  const head = Buffer.from(question);
  head.writeUInt16BE(exists ? FOUND : NO_SUCH_NAME, 2);
  for (const [at, count] of counts.entries()) head.writeUInt16BE(count, 4 + 2 * at);
  if (ip === null) return head;
  // The name as a pointer to the question, type A, class IN, a minute to live, four bytes.
  const record = [0xc0, HEADER_BYTES, 0, IPV4, 0, 1, 0, 0, 0, 60, 0, 4, ...ip.split(".").map(Number)];
  return Buffer.concat([head, Buffer.from(record)]);
}
