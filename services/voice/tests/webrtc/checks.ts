import { createHmac, randomBytes } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { crc32 } from "node:zlib";

/** A socket that sends datagrams to the port of an answer, and its checks (RFC 8445). */
export async function socketTo(answer: string) {
  const [, port = ""] = /^a=candidate:\S+ \d+ \S+ \d+ \S+ (\d+)/m.exec(answer) ?? [];
  const [, name = ""] = /^a=ice-ufrag:(\S+)/m.exec(answer) ?? [];
  const [, password = ""] = /^a=ice-pwd:(\S+)/m.exec(answer) ?? [];
  const received: Buffer[] = [];
  const socket = createSocket("udp4");
  socket.on("message", (datagram) => received.push(datagram));
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const send = (datagram: Uint8Array) =>
    new Promise<void>((sent) => socket.send(datagram, Number(port), "127.0.0.1", () => sent()));
  return {
    port: socket.address().port,
    received,
    send,
    /** @param from the name that the browser's offer has @returns the check's id, which its answer has too */
    check: async (from: string, signedWith: string | null = password): Promise<string> => {
      const id = randomBytes(12);
      await send(checkOf(id, `${name}:${from}`, signedWith));
      return id.toString("hex");
    },
    /** The ids of the checks that were answered as valid. */
    answered: () =>
      received
        .filter((datagram) => datagram.readUInt16BE(0) === SUCCESS)
        .map((datagram) => datagram.toString("hex", 8, 20)),
    close: () => void socket.close(),
  };
}

const [REQUEST, SUCCESS] = [0x0001, 0x0101];
const MAGIC = 0x2112a442;
const [USERNAME, INTEGRITY, PRIORITY, USE_CANDIDATE, FINGERPRINT, CONTROLLING] = [6, 8, 0x24, 0x25, 0x8028, 0x802a];
const FINGERPRINT_XOR = 0x5354554e;

/** A request of STUN (RFC 8489), signed with a password or not at all. */
function checkOf(id: Buffer, username: string, password: string | null): Buffer {
  const priority = Buffer.from([0, 0, 0, 1]);
  const plain = [
    attribute(USERNAME, Buffer.from(username)),
    attribute(PRIORITY, priority),
    attribute(CONTROLLING, randomBytes(8)),
    attribute(USE_CANDIDATE, Buffer.alloc(0)),
  ];
  if (password === null) return message(id, plain, 0);
  const integrity = createHmac("sha1", password)
    .update(message(id, plain, 24))
    .digest();
  const signed = [...plain, attribute(INTEGRITY, integrity)];
  const fingerprint = Buffer.alloc(4);
  fingerprint.writeUInt32BE((crc32(message(id, signed, 8)) ^ FINGERPRINT_XOR) >>> 0);
  return message(id, [...signed, attribute(FINGERPRINT, fingerprint)], 0);
}

/** @param further bytes that the header counts although they follow later */
function message(id: Buffer, attributes: Buffer[], further: number): Buffer {
  const header = Buffer.alloc(8);
  header.writeUInt16BE(REQUEST);
  header.writeUInt16BE(
    attributes.reduce((sum, { length }) => sum + length, further),
    2,
  );
  header.writeUInt32BE(MAGIC, 4);
  return Buffer.concat([header, id, ...attributes]);
}

function attribute(type: number, value: Buffer): Buffer {
  const bytes = Buffer.alloc(4 + Math.ceil(value.length / 4) * 4);
  bytes.writeUInt16BE(type);
  bytes.writeUInt16BE(value.length, 2);
  value.copy(bytes, 4);
  return bytes;
}
