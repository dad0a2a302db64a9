import { type Dialog, requestIn } from "./dialog.ts";
import { bodyOf, SDP } from "./messages/body.ts";
import { headerOf, type SipResponse } from "./messages/message.ts";
import { grantedRefreshes, type Refreshes, sessionTimer } from "./session-timer.ts";
import type { Transactions } from "./transactions.ts";

interface RefreshingOptions {
  dialog: Dialog;
  transactions: Transactions;
  takesUpdates: boolean;
  /** The headers that each request has. */
  request(): Record<string, string>;
  /** The call's audio, for a peer that takes no UPDATE. */
  offer(): string;
  /** The peer's answer to it. */
  agreed(body: string): void;
  /** Ends the call: it was not refreshed in time, or the peer does not know it. */
  lose(): void;
}

/** Keeps a call alive as both sides have agreed (RFC 4028), with an UPDATE or else by inviting again. */
export function refreshing({ dialog, transactions, takesUpdates, request, offer, agreed, lose }: RefreshingOptions) {
  let everySeconds = 0;
  let method = takesUpdates ? "UPDATE" : "INVITE";

  const refresh = () => {
    const isInvite = method === "INVITE";
    const headers = {
      ...request(),
      "session-expires": `${everySeconds};refresher=uac`,
      ...(isInvite && { "content-type": SDP }),
    };
    const asked = requestIn(dialog, method, headers, isInvite ? offer() : "");
    const { localSequence } = dialog;
    let isSettled = false;
    transactions.send(asked, dialog.peer, (response, isTheirs) => {
      if (response.status < 200) return;
      if (isInvite && response.status < 300)
        transactions.sendAck(requestIn({ ...dialog, localSequence }, "ACK"), dialog.peer);
      // A success is repeated until its ACK arrives.
      if (isSettled) return;
      isSettled = true;
      if (isInvite && response.status < 300) agreed(bodyOf(response, SDP));
      answered(response, isTheirs);
    });
  };

  const answered = (response: SipResponse, isTheirs: boolean) => {
    const { status } = response;
    if (status < 300) return set(grantedRefreshes(response));
    if (!isTheirs || status === 408 || status === 481) return lose();
    const least = Number(/^\d{1,5}/.exec(headerOf(response, "min-se"))?.[0] ?? 0);
    if (status === 422 && least > everySeconds) everySeconds = least;
    if (status === 405 || status === 501) method = "INVITE";
    timer.retry();
  };

  const timer = sessionTimer({ refresh, expired: lose, secondMs: 2 * transactions.t1Ms });
  const set = (refreshes: Refreshes | null) => {
    everySeconds = refreshes?.everySeconds ?? 0;
    timer.set(refreshes);
  };

  return { set, stop: timer.stop };
}
