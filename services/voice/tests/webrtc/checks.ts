import { createSocket } from "node:dgram";
import { once } from "node:events";
import { Message } from "werift";

const [BINDING, REQUEST] = [1, 0];

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
    received,
    send,
    /** @returns the check's id, which its answer has too */
    check: async (signedWith: string | null = password): Promise<string> => {
      const message = new Message(BINDING, REQUEST);
      message.setAttribute("USERNAME", `${name}:page`).setAttribute("PRIORITY", 1);
      message.setAttribute("ICE-CONTROLLING", 1n).setAttribute("USE-CANDIDATE", null);
      if (signedWith !== null) message.addMessageIntegrity(Buffer.from(signedWith)).addFingerprint();
      await send(message.bytes);
      return message.transactionIdHex;
    },
    /** The ids of the checks that were answered. */
    answered: () => received.filter(([first = 0]) => first < 4).map((datagram) => datagram.toString("hex", 8, 20)),
    close: () => void socket.close(),
  };
}
