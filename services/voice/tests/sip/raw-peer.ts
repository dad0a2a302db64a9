import { muLaw } from "@parley/shared/media/g711";
import { type RtpPacket, writeRtp } from "@parley/shared/media/rtp-packet";
import { eventually } from "@parley/testkit/eventually";
import { responseTo } from "../../src/transport/sip/messages/derived-messages.ts";
import {
  cseqOf,
  headerOf,
  isRequest,
  readSip,
  type SipMessage,
  type SipRequest,
  writeSip,
} from "../../src/transport/sip/messages/message.ts";
import { tone } from "../listening.ts";
import type { Phone } from "./phones.ts";

/** A peer that says over UDP what a test tells it to, and nothing by itself. @param hostname the address it sends SIP from */
export async function rawPeer(phone: Phone, hostname = "127.0.0.1") {
  const received: SipMessage[] = [];
  const socket = await Bun.udpSocket({
    hostname,
    socket: {
      data: (_socket, bytes) => {
        const message = readSip(bytes);
        if (message) received.push(message);
      },
    },
  });
  const rtp = await Bun.udpSocket({ hostname: "127.0.0.1", socket: { data: () => {} } });
  const tag = crypto.randomUUID();
  const sendText = (text: string) => socket.send(text, phone.server.port, phone.server.address);
  const send = (message: SipMessage) => sendText(writeSip(message));

  const description = (...lines: string[]) =>
    ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "c=IN IP4 127.0.0.1", "t=0 0", `m=audio ${rtp.port} RTP/AVP 0 101`]
      .concat("a=rtpmap:101 telephone-event/8000", ...lines, "")
      .join("\r\n");

  /** A request with a transaction of its own. */
  const request = (method: string, headers: Record<string, string> = {}, body = ""): SipRequest => ({
    method,
    uri: `sip:agent@${phone.address}`,
    headers: new Map(
      Object.entries({
        via: `SIP/2.0/UDP 127.0.0.1:${socket.port};rport;branch=z9hG4bK${crypto.randomUUID()}`,
        from: `<sip:raw@127.0.0.1>;tag=${tag}`,
        to: `<sip:agent@${phone.address}>`,
        "call-id": tag,
        cseq: `1 ${method}`,
        contact: `<sip:raw@127.0.0.1:${socket.port}>`,
        "max-forwards": "70",
        ...headers,
      }).map(([name, value]) => [name, [value]]),
    ),
    body,
  });

  const answerTo = (asked: SipRequest, status: number) =>
    eventually(() => {
      const found = received.find(
        (message) =>
          !isRequest(message) &&
          message.status === status &&
          headerOf(message, "cseq") === headerOf(asked, "cseq") &&
          branchOf(message) === branchOf(asked),
      );
      if (!found) throw new Error(`no ${status} for ${headerOf(asked, "cseq")} among ${received.map(startOf)}`);
      return found;
    });

  const sendRtp = (port: number, packet: Omit<RtpPacket, "marker" | "ssrc"> & { ssrc?: number }) =>
    rtp.send(writeRtp({ marker: false, ssrc: 1, ...packet }), port, phone.server.address);

  return {
    rtp,
    sendRtp,
    /** Half a second of a tone, at once and as a stream of its own. */
    speak: (port: number, hz: number) => {
      const [ssrc] = crypto.getRandomValues(new Uint32Array(1)) as Uint32Array & [number];
      const narrow = tone(hz, 1).filter((_, at) => at % 2 === 0);
      for (let sequence = 0; sequence < 25; sequence++) {
        const payload = muLaw.encode(narrow.subarray(sequence * 160, (sequence + 1) * 160));
        sendRtp(port, { payloadType: 0, sequence, timestamp: sequence * 160, ssrc, payload });
      }
    },
    received,
    description,
    request,
    send,
    sendText,
    answerTo,
    /** The next request of a method from the phone. */
    asked: (method: string) =>
      eventually(() => {
        const found = received.find((message) => isRequest(message) && message.method === method);
        if (!found) throw new Error(`no ${method} among ${received.map(startOf)}`);
        return found as SipRequest;
      }),
    /** Where it listens. */
    target: { protocol: "UDP" as const, address: "127.0.0.1", port: socket.port },
    /** Answers an INVITE with a description. */
    accept: (asked: SipRequest, body: string) =>
      send(
        responseTo(asked, 200, "OK", {
          toTag: tag,
          headers: { contact: `<sip:raw@127.0.0.1:${socket.port}>`, "content-type": "application/sdp" },
          body,
        }),
      ),
    answer: (asked: SipRequest, status: number) => send(responseTo(asked, status, "Answer")),
    /** Calls the phone and confirms the call; the returned function makes further requests within it. */
    call: async (body = description()) => {
      const invite = request("INVITE", body === "" ? {} : { "content-type": "application/sdp" }, body);
      send(invite);
      const answer = await answerTo(invite, 200);
      const to = headerOf(answer, "to");
      send(request("ACK", { to }, body === "" ? description() : ""));
      let number = 1;
      return {
        answer,
        within: (method: string, extra: Record<string, string> = {}, inside = "") =>
          request(method, { to, cseq: `${++number} ${method}`, ...extra }, inside),
      };
    },
    stop: () => {
      socket.close();
      rtp.close();
    },
  };
}

function startOf(message: SipMessage): string {
  return isRequest(message) ? message.method : `${message.status} ${cseqOf(message)?.method}`;
}

function branchOf(message: SipMessage): string | undefined {
  return /branch=([^;]+)/.exec(headerOf(message, "via"))?.[1];
}
