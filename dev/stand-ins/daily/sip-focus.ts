import { randomBytes } from "node:crypto";
import { openPhoneAudio, type PhoneAudio } from "@parley/shared/phone/audio";
import { headerOf, type Message, readMessage, writeMessage } from "@parley/shared/phone/message";
import { audioAt, audioOf } from "@parley/shared/phone/session-description";

/** The SIP end of rooms: answers calls for telephone audio over UDP, on loopback. */
interface SipFocus {
  /** host:port. */
  address: string;
  stop(): void;
}

export interface FocusCall {
  audio: PhoneAudio;
  /** Ends the call from the room's side. */
  hangUp(): void;
}

interface FocusRooms {
  /** How to answer a call to this user; null to refuse it, because its room is empty. */
  called(user: string): { heard(frame: Int16Array): void; connected(call: FocusCall): void; ended(): void } | null;
}

interface Dialog extends FocusCall {
  answer: Message;
  ended(): void;
}

/** @throws when the port is taken */
export async function startSipFocus(hostname: string, port: number, rooms: FocusRooms): Promise<SipFocus> {
  const dialogs = new Map<string, Dialog>();
  const arriving = new Set<string>();

  const socket = await Bun.udpSocket({
    hostname,
    port,
    socket: {
      data: (_socket, bytes, fromPort, from) => {
        const message = readMessage(bytes.toString());
        if (message && message.status === undefined) void received(message, { port: fromPort, address: from });
      },
      // The caller is gone.
      error: () => {},
    },
  });
  type Peer = { address: string; port: number };
  const send = (message: Message, to: Peer) => void socket.send(writeMessage(message), to.port, to.address);

  const received = async (request: Message, peer: Peer) => {
    const [method = "", uri = ""] = request.start.split(" ");
    const callId = headerOf(request, "call-id");
    const known = dialogs.get(callId);
    if (method === "ACK") return;
    if (method === "INVITE") {
      if (known) return send(known.answer, peer);
      if (arriving.has(callId)) return;
      arriving.add(callId);
      await invited(request, uri, callId, peer).finally(() => arriving.delete(callId));
    } else if (method === "BYE") {
      send(responseTo(request, known ? "200 OK" : "481 Call/Transaction Does Not Exist"), peer);
      end(callId);
    } else send(responseTo(request, "200 OK"), peer);
  };

  const invited = async (request: Message, uri: string, callId: string, peer: Peer) => {
    const theirs = audioOf(request.body);
    const room = rooms.called(/^sips?:([^@;]+)@/.exec(uri)?.[1] ?? "");
    if (!room || !theirs) return send(responseTo(request, room ? "488 Not Acceptable Here" : "404 Not Found"), peer);
    const audio = await openPhoneAudio(hostname, { heard: room.heard });
    const answer = responseTo(request, "200 OK");
    answer.headers.push(["Contact", `<${uri}>`], ["Content-Type", "application/sdp"]);
    answer.body = audioAt(audio.at);
    const dialog: Dialog = {
      audio,
      answer,
      ended: room.ended,
      hangUp: () => {
        if (dialogs.has(callId)) send(byeOf(request, answer, `${hostname}:${socket.port}`), peer);
        end(callId);
      },
    };
    dialogs.set(callId, dialog);
    send(answer, peer);
    audio.connect(theirs);
    room.connected(dialog);
  };

  const end = (callId: string) => {
    const dialog = dialogs.get(callId);
    if (!dialog) return;
    dialogs.delete(callId);
    dialog.audio.close();
    dialog.ended();
  };

  return {
    address: `${hostname}:${socket.port}`,
    stop: () => {
      for (const callId of [...dialogs.keys()]) end(callId);
      socket.close();
    },
  };
}

const COPIED = ["via", "from", "to", "call-id", "cseq"];

function responseTo(request: Message, status: string): Message {
  const headers = request.headers.filter(([name]) => COPIED.includes(name.toLowerCase()));
  const tagged = headers.map(([name, value]): [string, string] => {
    const isOurs = name.toLowerCase() === "to" && !/;\s*tag=/i.test(value);
    return [name, isOurs ? `${value};tag=${randomBytes(6).toString("hex")}` : value];
  });
  return { start: `SIP/2.0 ${status}`, headers: tagged, body: "" };
}

/** Our BYE within the dialog of an answered INVITE. */
function byeOf(invite: Message, answer: Message, local: string): Message {
  const target = /<([^>]+)>/.exec(headerOf(invite, "contact"))?.[1] ?? "";
  return {
    start: `BYE ${target} SIP/2.0`,
    headers: [
      ["Via", `SIP/2.0/UDP ${local};branch=z9hG4bK${randomBytes(8).toString("hex")};rport`],
      ["Max-Forwards", "70"],
      ["From", headerOf(answer, "to")],
      ["To", headerOf(invite, "from")],
      ["Call-ID", headerOf(invite, "call-id")],
      ["CSeq", "1 BYE"],
    ],
    body: "",
  };
}
