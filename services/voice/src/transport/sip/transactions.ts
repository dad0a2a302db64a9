import { randomBytes } from "node:crypto";
import { hostPort, readVia, type Via, writeVia } from "./messages/address.ts";
import { ackOfRefusal, responseTo } from "./messages/derived-messages.ts";
import { cseqOf, isRequest, type SipMessage, type SipRequest, type SipResponse } from "./messages/message.ts";
import { type Served, servedRequests } from "./served.ts";
import type { Target } from "./sockets.ts";

/** A request that arrived, and the function that answers it. */
export interface Incoming {
  request: SipRequest;
  from: Target;
  /** Answers; a repeated request gets the last answer again. */
  answer(response: SipResponse): void;
  /**
   * Answers and forgets the request: if it is repeated, it is handled again. For strangers, so that they leave nothing here, and an
   * address that was forged gets one answer and no repetitions (RFC 3261, sections 8.2.7 and 26.3.2.4).
   */
  answerOnce(response: SipResponse): void;
  /**
   * Answers an INVITE with success, again and again until the returned function is called because the ACK is there. `gaveUp` is called
   * if it does not come (RFC 3261, section 13.3.1.4).
   */
  insist(response: SipResponse, gaveUp: () => void): () => void;
}

export interface Transactions {
  received(message: SipMessage, from: Target): void;
  /**
   * Sends a request with a Via of its own and repeats it until it is answered. `answered` gets every answer; if none comes, it
   * gets a 408 or 503 made here, and so does an INVITE that its CANCEL does not end. An INVITE's refusal is acknowledged here; its success is the caller's to acknowledge, each time
   * that it comes.
   */
  send(request: SipRequest, to: Target, answered: (response: SipResponse, isTheirs: boolean) => void): void;
  /** The request as `send` will send it: what a CANCEL needs. */
  prepare(request: SipRequest, to: Target): SipRequest;
  /** Requests to this target that wait for an answer have none: 503 with the reason. */
  unreachable(to: Target, why: string): void;
  /** Sends an ACK of a 2xx, which has no answer. */
  sendAck(request: SipRequest, to: Target): void;
  /** T1 of RFC 3261, the estimate of a round trip, in milliseconds. */
  t1Ms: number;
  stop(): void;
}

interface TransactionOptions {
  send(message: SipMessage, to: Target): void;
  /** The host and port of our Via. */
  host: string;
  portOf(to: Target): number;
  /** Counts requests that cannot be answered. */
  malformed(): void;
  /** A request that is new and not an ACK of a refusal. */
  requested(incoming: Incoming): void;
  /** T1 of RFC 3261, the estimate of a round trip: 500 ms. */
  t1Ms: number;
}

/** RFC 3261, table 4, in T1. */
const T2 = 8;
const GIVE_UP = 64;

/** How long a transaction is kept, in T1; an INVITE that rings longer is still known by its call. */
const SERVED_FOR = 4 * GIVE_UP;
/** A branch begins with this since RFC 3261. */
const COOKIE = "z9hG4bK";

interface Asked {
  request: SipRequest;
  to: Target;
  answered(response: SipResponse): void;
  /** @param isTheirs whether it is an answer of the target's own */
  settled(response: SipResponse, isTheirs: boolean): void;
}

/** The transaction layer of RFC 3261, section 17: lost datagrams are sent again, and repeated requests are handled once. */
export function transactions(options: TransactionOptions): Transactions {
  const { t1Ms } = options;
  const served = servedRequests(SERVED_FOR * t1Ms);
  const asked = new Map<string, Asked>();
  const timers = new Set<ReturnType<typeof setTimeout>>();

  const later = (ms: number, run: () => void) => {
    const timer = setTimeout(() => {
      timers.delete(timer);
      run();
    }, ms);
    timers.add(timer);
    return () => {
      timers.delete(timer);
      clearTimeout(timer);
    };
  };

  /** Repeats at T1, 2 T1, 4 T1, … up to `longest`, until stopped or 64 T1 have passed. */
  const repeat = (send: () => void, longest: number, gaveUp: () => void) => {
    let wait = 1;
    let cancel = () => {};
    const next = () => {
      cancel = later(wait * t1Ms, () => {
        send();
        wait = Math.min(wait * 2, longest);
        next();
      });
    };
    next();
    const cancelEnd = later(GIVE_UP * t1Ms, () => {
      cancel();
      gaveUp();
    });
    return () => {
      cancel();
      cancelEnd();
    };
  };

  const receiveRequest = (request: SipRequest, from: Target) => {
    const via = readVia(request.headers.get("via")?.[0] ?? "");
    const branch = via?.params.get("branch");
    const cseq = cseqOf(request);
    if (!via || !branch?.startsWith(COOKIE) || !cseq || cseq.method !== request.method) return options.malformed();
    const back = backTo(via, from);
    request.headers.get("via")?.splice(0, 1, writeVia(asReceived(via, from)));
    const name = `${request.method === "ACK" ? "INVITE" : request.method} ${branch} ${hostPort(via.host, via.port)} ${keyOf(from)}`;
    const known = served.find(name, from.address);
    if (request.method === "ACK" && known?.last && known.last.status >= 300) return known.stopRepeating();
    if (known && request.method !== "ACK") return void (known.last && options.send(known.last, back));
    const transaction: Served = { at: performance.now(), last: null, stopRepeating: () => {} };
    if (request.method !== "ACK") served.add(name, from.address, transaction);
    const answer = (response: SipResponse) => {
      if (transaction.last && transaction.last.status >= 200) return;
      transaction.last = response;
      options.send(response, back);
      const isRefusal = request.method === "INVITE" && response.status >= 300;
      if (isRefusal)
        transaction.stopRepeating = repeat(
          () => options.send(response, back),
          T2,
          () => {},
        );
    };
    const answerOnce = (response: SipResponse) => {
      if (transaction.last && transaction.last.status >= 200) return;
      transaction.last = response;
      options.send(response, back);
      served.forget(name, from.address);
    };
    const insist: Incoming["insist"] = (response, gaveUp) => {
      answer(response);
      transaction.stopRepeating = repeat(() => options.send(response, back), T2, gaveUp);
      return transaction.stopRepeating;
    };
    options.requested({ request, from: back, answer, answerOnce, insist });
  };

  const receiveResponse = (response: SipResponse) => {
    const branch = readVia(response.headers.get("via")?.[0] ?? "")?.params.get("branch");
    const cseq = cseqOf(response);
    if (branch && cseq) asked.get(`${cseq.method} ${branch}`)?.answered(response);
  };

  const ours = (branch: string, to: Target): string =>
    writeVia({
      protocol: to.protocol,
      host: options.host,
      port: options.portOf(to),
      params: new Map([
        ["branch", branch],
        ["rport", ""],
      ]),
    });

  const withVia = (request: SipRequest, via: string): SipRequest => ({
    ...request,
    headers: new Map([["via", [via]], ...request.headers]),
  });

  const prepare: Transactions["prepare"] = (given, to) =>
    givenBranch(given) ? given : withVia(given, ours(newBranch(), to));

  const send: Transactions["send"] = (given, to, answered) => {
    const request = prepare(given, to);
    const branch = givenBranch(request);
    const name = `${request.method} ${branch}`;
    const isInvite = request.method === "INVITE";
    const stop = repeat(
      // A stream loses nothing; only the time to give up counts.
      () => to.protocol === "UDP" && options.send(request, to),
      isInvite ? GIVE_UP : T2,
      () => transaction.settled(timedOut(request), false),
    );
    let isAnswered = false;
    const transaction: Asked = {
      request,
      to,
      answered: (response) => {
        if (isInvite && response.status >= 300) options.send(ackOfRefusal(request, response), to);
        if (response.status < 200) {
          if (isInvite) stop();
          return answered(response, true);
        }
        transaction.settled(response, true);
      },
      settled: (response, isTheirs) => {
        stop();
        if (isAnswered && response.status >= 300) return;
        if (!isAnswered) later(GIVE_UP * t1Ms, () => asked.delete(name));
        isAnswered = true;
        answered(response, isTheirs);
      },
    };
    asked.set(name, transaction);
    // The peer may be gone since it has answered provisionally (RFC 3261, section 9.1).
    if (request.method === "CANCEL")
      later(GIVE_UP * t1Ms, () => {
        const invite = asked.get(`INVITE ${branch}`);
        invite?.settled(timedOut(invite.request), false);
      });
    options.send(request, to);
  };

  return {
    received: (message, from) => (isRequest(message) ? receiveRequest(message, from) : receiveResponse(message)),
    send,
    prepare,
    unreachable: (target, why) => {
      for (const { request, to, settled } of [...asked.values()])
        if (keyOf(to) === keyOf(target) && to.port === target.port)
          settled(responseTo(request, 503, `The connection failed: ${why}`), false);
    },
    t1Ms,
    sendAck: (request, to) => options.send(withVia(request, ours(newBranch(), to)), to),
    stop: () => {
      for (const timer of timers) clearTimeout(timer);
      timers.clear();
    },
  };
}

function timedOut(request: SipRequest): SipResponse {
  return responseTo(request, 408, "Request Timeout");
}

/** Answers go to where the request came from: the sender may be behind NAT (RFC 3581). */
function backTo(via: Via, from: Target): Target {
  const asked = via.params.has("rport") || from.protocol !== "UDP";
  return asked ? from : { ...from, port: via.port ?? 5060 };
}

function asReceived(via: Via, { address, port }: Target): Via {
  const params = new Map(via.params);
  params.set("received", address);
  if (params.has("rport")) params.set("rport", String(port));
  return { ...via, params };
}

function givenBranch({ headers }: SipRequest): string | undefined {
  return readVia(headers.get("via")?.[0] ?? "")?.params.get("branch");
}

function newBranch(): string {
  return `${COOKIE}${randomBytes(12).toString("hex")}`;
}

function keyOf({ protocol, address }: Target): string {
  return `${protocol} ${address}`;
}
