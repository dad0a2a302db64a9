import { randomBytes } from "node:crypto";
import { headerOf, type Message, readMessage, writeMessage } from "./message.ts";
import { audioAt, audioOf, type MediaAddress } from "./session-description.ts";

interface DialOptions {
  /** host:port of the SIP server, IPv4 and UDP. */
  server: string;
  /** The user part of the address that is called: an agent's id or a number. */
  callee: string;
  /** Where this side receives PCMU. */
  media: MediaAddress;
  /** Gives up a call that is not answered yet. */
  signal?: AbortSignal;
}

export interface Dialed {
  media: MediaAddress;
  /** Settles when either side has hung up; never rejects. */
  ended: Promise<"hung_up" | "ended_by_us">;
  /** Hangs up; settles when the other side has confirmed, or does not answer. */
  hangUp(): Promise<void>;
}

/** The other side did not take the call, or did not answer. */
export class NotAnswered extends Error {
  override readonly name = "NotAnswered";
  constructor(
    /** The SIP status; 408 if no answer came. */
    readonly status: number,
    reason: string,
  ) {
    super(`The call was not answered: ${status} ${reason}`);
  }
}

/** T1 of RFC 3261: when something is sent again for the first time. */
const REPEAT_MS = 500;
/** How often a request is sent to a server that does not answer at all; a phone may ring for longer. */
const TRIES = 5;
const RING_MAX_MS = 60_000;

/**
 * Calls someone by SIP over UDP with telephone audio: a caller of the kind that a test, a benchmark or a terminal needs. It does
 * what RFC 3261 requires of a caller, but supports neither proxies nor changes of the session.
 * @throws NotAnswered, or whatever the signal was aborted with
 */
export async function dial({ server, callee, media, signal }: DialOptions): Promise<Dialed> {
  const [, host = "", port = ""] = /^(.+):(\d+)$/.exec(server) ?? [];
  const answered = Promise.withResolvers<Message>();
  const bye = Promise.withResolvers<void>();
  const ended = Promise.withResolvers<"hung_up" | "ended_by_us">();
  let repeating: Repeating | null = null;

  const socket = await Bun.udpSocket({
    hostname: media.address,
    socket: {
      data: (_socket, bytes) => received(readMessage(bytes.toString())),
      // A server that is gone answers with ICMP; nothing else comes then.
      error: () => {},
    },
  });
  const send = (message: Message) => {
    try {
      socket.send(writeMessage(message), Number(port), host);
    } catch {
      // The network refuses the message, which is then lost: it is sent again, or given up.
    }
  };
  const local = `${media.address}:${socket.port}`;
  const callId = newToken();
  const from = `<sip:caller@${media.address}>;tag=${newToken()}`;
  const uri = `sip:${callee}@${server}`;

  const request = (method: string, number: number, to: string, target = uri): Message => ({
    start: `${method} ${target} SIP/2.0`,
    headers: [
      ["Via", `SIP/2.0/UDP ${local};branch=z9hG4bK${newToken()};rport`],
      ["Max-Forwards", "70"],
      ["From", from],
      ["To", to],
      ["Call-ID", callId],
      ["CSeq", `${number} ${method}`],
      ["Contact", `<sip:caller@${local}>`],
    ],
    body: "",
  });

  const received = (message: Message | null) => {
    if (!message || headerOf(message, "call-id") !== callId) return;
    if (message.status === undefined) return requested(message);
    if (headerOf(message, "cseq").endsWith("BYE")) return bye.resolve();
    if (message.status >= 100) repeating?.stop();
    if (message.status < 200) return;
    // It may come again, if its ACK was lost.
    send(acknowledgement(message));
    answered.resolve(message);
  };

  const acknowledgement = (answer: Message): Message => {
    const status = answer.status ?? 0;
    if (status < 300) return request("ACK", 1, headerOf(answer, "to"), targetOf(answer) ?? uri);
    // A refusal's belongs to the INVITE's transaction (RFC 3261, section 17.1.1.3).
    const ack = request("ACK", 1, headerOf(answer, "to"));
    return { ...ack, headers: [["Via", headerOf(invite, "via")], ...ack.headers.slice(1)] };
  };

  const requested = (message: Message) => {
    const [method] = message.start.split(" ");
    if (method === "ACK") return;
    const copied = ["via", "from", "to", "call-id", "cseq"].map((name): [string, string] => [
      name,
      headerOf(message, name),
    ]);
    const isKnown = ["BYE", "OPTIONS", "INFO", "NOTIFY"].includes(method ?? "");
    send({ start: isKnown ? "SIP/2.0 200 OK" : "SIP/2.0 405 Method Not Allowed", headers: copied, body: "" });
    if (method === "BYE") ended.resolve("hung_up");
  };

  const invite = { ...request("INVITE", 1, `<${uri}>`), body: audioAt(media) };
  invite.headers.push(["Content-Type", "application/sdp"]);

  const giveUp = (status: number, reason: string) => answered.reject(new NotAnswered(status, reason));
  const abort = () => answered.reject(signal?.reason);
  signal?.addEventListener("abort", abort, { once: true });
  if (signal?.aborted) abort();
  const ringing = setTimeout(() => giveUp(408, "Request Timeout"), RING_MAX_MS);
  repeating = repeat(
    () => send(invite),
    () => giveUp(408, "Request Timeout"),
  );

  try {
    const answer = await answered.promise;
    const { status = 0 } = answer;
    if (status >= 300) throw new NotAnswered(status, answer.start.split(" ").slice(2).join(" "));
    const theirs = audioOf(answer.body);
    if (!theirs) throw new NotAnswered(488, "Not Acceptable Here");
    void ended.promise.then(() => setTimeout(() => socket.close(), REPEAT_MS));
    return {
      media: theirs,
      ended: ended.promise,
      hangUp: async () => {
        const goodbye = request("BYE", 2, headerOf(answer, "to"), targetOf(answer) ?? uri);
        const { stop } = repeat(() => send(goodbye), bye.resolve);
        await Promise.race([bye.promise, ended.promise]);
        stop();
        ended.resolve("ended_by_us");
      },
    };
  } catch (error) {
    // Only an INVITE without an answer is cancelled; the other side forgets one that it has refused.
    if (!(error instanceof NotAnswered)) {
      const cancel = request("CANCEL", 1, `<${uri}>`);
      send({ ...cancel, headers: [["Via", headerOf(invite, "via")], ...cancel.headers.slice(1)] });
    }
    socket.close();
    throw error;
  } finally {
    repeating.stop();
    clearTimeout(ringing);
    signal?.removeEventListener("abort", abort);
  }
}

interface Repeating {
  stop(): void;
}

/** Sends now and again, with growing pauses, until it is stopped or gives up. */
function repeat(send: () => void, gaveUp: () => void): Repeating {
  let timer: Timer | undefined;
  const next = (tries: number) => {
    if (tries === TRIES) return gaveUp();
    send();
    timer = setTimeout(() => next(tries + 1), REPEAT_MS * 2 ** tries);
  };
  next(0);
  return { stop: () => clearTimeout(timer) };
}

function targetOf(message: Message): string | undefined {
  return /<([^>]+)>/.exec(headerOf(message, "contact"))?.[1];
}

function newToken(): string {
  return randomBytes(8).toString("hex");
}
