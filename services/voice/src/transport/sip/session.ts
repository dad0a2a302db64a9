import { randomInt } from "node:crypto";
import type { Leg, LegListener } from "../leg.ts";
import type { RtpStream } from "../rtp/stream.ts";
import { type Dialog, requestIn } from "./dialog.ts";
import { addressIn } from "./messages/address.ts";
import { bodyOf, SDP } from "./messages/body.ts";
import { responseTo } from "./messages/derived-messages.ts";
import { pressedKey } from "./messages/info-keys.ts";
import { cseqOf, type SipRequest, type SipResponse } from "./messages/message.ts";
import { type Agreed, agree, answer, offer } from "./messages/sdp.ts";
import { referring } from "./referring.ts";
import { refreshing } from "./refreshing.ts";
import { type Refreshes, tooShort, wantedRefreshes } from "./session-timer.ts";
import type { Target } from "./sockets.ts";
import type { Incoming, Transactions } from "./transactions.ts";

/** An answered call: its media, and the requests that both sides may still make. */
export interface Session {
  leg: Leg;
  /**
   * Answers an INVITE of this call with success, and loses the call if the peer does not confirm it.
   * @returns whether it has confirmed it, as soon as that is known
   */
  answer(incoming: Incoming, response: SipResponse): Promise<boolean>;
  /** A request within the call. */
  requested(incoming: Incoming): void;
  /** Where its requests go. */
  peer(): Target;
  /** Ends a call whose peer is gone. */
  lose(): void;
}

export interface SessionParts {
  dialog: Dialog;
  rtp: RtpStream;
  transactions: Transactions;
  /** Where our media are, for session descriptions. */
  address: string;
  /** The value of our Contact. */
  contact: string;
  to: LegListener;
  /** How the call stays alive, as its INVITE has agreed; null: without refreshes. */
  refreshes: Refreshes | null;
  takesUpdates: boolean;
  /** A peer that was not heard for this long is asked whether it is still there. */
  silentMs: number;
  /** Called once, when the call is over. */
  over(): void;
}

export const ALLOW = "INVITE, ACK, BYE, CANCEL, OPTIONS, INFO, UPDATE, NOTIFY";
export const SUPPORTED = "timer";
/** How long the outcome of a transfer may follow a BYE, in T1: a lost report is repeated after one and three. */
const REPORT_MAX = 8;

export function startSession({
  dialog,
  rtp,
  transactions,
  address,
  contact,
  to,
  refreshes,
  takesUpdates,
  silentMs,
  over,
}: SessionParts): Session {
  const sessionId = randomInt(2 ** 47);
  let version = 0;
  let isOver = false;
  let confirmed = () => {};

  const end = (how: Parameters<LegListener["ended"]>[0]) => {
    if (isOver) return;
    isOver = true;
    clearInterval(watch);
    timer.stop();
    confirmed();
    rtp.close();
    void refers.ended(how).then(over);
    to.ended(how);
  };

  const ask = (
    method: string,
    headers: Readonly<Record<string, string>>,
    answered: (status: number, isTheirs: boolean) => void,
  ) =>
    transactions.send(requestIn(dialog, method, { contact, ...headers }), dialog.peer, ({ status }, isTheirs) =>
      answered(status, isTheirs),
    );

  const refers = referring({
    dialog,
    refer: (headers, answered) => ask("REFER", headers, answered),
    reportMaxMs: REPORT_MAX * transactions.t1Ms,
  });

  const hangUp = () => {
    if (isOver) return;
    ask("BYE", {}, () => {});
    end("ended_by_us");
  };

  const lose = () => {
    if (isOver) return void refers.ended("lost");
    ask("BYE", {}, () => {});
    end("lost");
  };

  const watch = setInterval(() => {
    if (rtp.unheardMs() < silentMs) return;
    // Without an answer of its own, the peer cannot even be connected to.
    ask("OPTIONS", {}, (status, isTheirs) => (!isTheirs || status === 408 || status === 481) && end("lost"));
  }, silentMs);

  const timer = refreshing({
    dialog,
    transactions,
    takesUpdates,
    request: () => ({ contact, allow: ALLOW, supported: SUPPORTED }),
    offer: () => offer(local(), rtp.isSecure()),
    agreed: (body) => {
      const agreed = agree(body);
      if (agreed) rtp.agree(agreed, dialog.peer.address);
    },
    lose,
  });
  timer.set(refreshes);

  const local = () => ({ address, port: rtp.port, localKey: rtp.localKey, sessionId, version: version++ });

  const describe = (request: SipRequest): { body: string; agreed: Agreed | null } | null => {
    const offered = bodyOf(request, SDP);
    if (offered === "") return { body: offer(local(), rtp.isSecure()), agreed: null };
    const agreed = agree(offered);
    return agreed && { body: answer(local(), offered, agreed), agreed };
  };

  const accept = (incoming: Incoming, response: SipResponse): Promise<boolean> => {
    confirmed();
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const stop = incoming.insist(response, lose);
    confirmed = () => {
      stop();
      resolve(!isOver);
    };
    return promise;
  };

  const changeMedia = (incoming: Incoming) => {
    const { request, answer: reply } = incoming;
    const wanted = wantedRefreshes(request);
    if ("minSeconds" in wanted) return reply(tooShort(request, wanted.minSeconds));
    const refreshed = (headers: Record<string, string>, body: string) => {
      timer.set(wanted.refreshes);
      return ok(request, { ...wanted.headers, ...headers }, body);
    };
    if (request.method === "UPDATE" && bodyOf(request, SDP) === "") return reply(refreshed({}, ""));
    const described = describe(request);
    if (!described) return reply(responseTo(request, 488, "Not Acceptable Here"));
    if (described.agreed) rtp.agree(described.agreed, incoming.from.address);
    const target = addressIn(request, "contact")?.uri;
    if (target) dialog.remoteTarget = target;
    const response = refreshed({ "content-type": SDP }, described.body);
    if (request.method === "INVITE") void accept(incoming, response);
    else reply(response);
  };

  const ok = (request: SipRequest, headers: Record<string, string> = {}, body = "") =>
    responseTo(request, 200, "OK", { headers: { contact, allow: ALLOW, supported: SUPPORTED, ...headers }, body });

  const handlers: Readonly<Record<string, (incoming: Incoming) => void>> = {
    INVITE: changeMedia,
    UPDATE: changeMedia,
    ACK: ({ request, from }) => {
      confirmed();
      const agreed = agree(bodyOf(request, SDP));
      if (agreed) rtp.agree(agreed, from.address);
    },
    BYE: ({ request, answer: reply }) => {
      reply(ok(request));
      end("hung_up");
    },
    OPTIONS: ({ request, answer: reply }) => reply(ok(request)),
    INFO: ({ request, answer: reply }) => {
      reply(ok(request));
      const key = pressedKey(request);
      if (key) rtp.signaled(key);
    },
    NOTIFY: ({ request, answer: reply }) => {
      reply(ok(request));
      refers.notified(request);
    },
  };

  return {
    leg: {
      play: rtp.play,
      clear: rtp.clear,
      mark: rtp.mark,
      heardSamples: rtp.heardSamples,
      queuedSamples: rtp.queuedSamples,
      press: rtp.press,
      transfer: (target) => refers.transfer(target).then(hangUp),
      hangUp: async () => hangUp(),
      farEnd: () => ({ type: "sip", dialog: { ...dialog } }),
    },
    requested: (incoming) => {
      const { request, from, answer: reply } = incoming;
      if (isOver && request.method !== "NOTIFY")
        return request.method === "ACK"
          ? undefined
          : reply(responseTo(request, 481, "Call/Transaction Does Not Exist"));
      const number = cseqOf(request)?.number ?? 0;
      if (request.method !== "ACK" && number <= dialog.remoteSequence)
        return reply(responseTo(request, 500, "CSeq Too Low"));
      dialog.remoteSequence = Math.max(number, dialog.remoteSequence);
      dialog.peer = { ...from, ownerId: dialog.peer.ownerId };
      const handle = handlers[request.method];
      if (handle) handle(incoming);
      else reply(responseTo(request, 405, "Method Not Allowed", { headers: { allow: ALLOW } }));
    },
    answer: accept,
    peer: () => dialog.peer,
    lose,
  };
}
