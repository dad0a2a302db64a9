import { ServiceError } from "@parley/shared/errors";
import type { Dialog } from "./dialog.ts";
import { hostPort, readUri } from "./messages/address.ts";
import { bodyOf } from "./messages/body.ts";
import { split } from "./messages/grammar.ts";
import type { SipRequest } from "./messages/message.ts";

/** The transfers of one call (RFC 3515). */
interface Referring {
  /** @throws ServiceError if the other party is not connected to the target */
  transfer(target: string): Promise<void>;
  /** A NOTIFY: the progress of the transfer, as the status line of the new call. */
  notified(request: SipRequest): void;
  /**
   * The call has ended. @returns resolves when no outcome is awaited anymore: one that takes the call over may end it before it reports
   * success
   */
  ended(how: "hung_up" | "lost" | "ended_by_us"): Promise<void>;
}

interface ReferringOptions {
  dialog: Dialog;
  /** Sends a REFER. */
  refer(headers: Readonly<Record<string, string>>, answered: (status: number) => void): void;
  /** How long the outcome may follow the end of the call. */
  reportMaxMs: number;
}

interface Transfer {
  isAccepted: boolean;
  /** Whether the other side reports progress at all. */
  isNotified: boolean;
  done: PromiseWithResolvers<void>;
}

const TRANSFER_MAX_MS = 45_000;

export function referring({ dialog, refer, reportMaxMs }: ReferringOptions): Referring {
  let current: Transfer | null = null;
  let isOver = false;

  /** The other party has hung up, or has been taken over by whoever reports nothing. */
  const hungUp = async (transfer: Transfer) => {
    const timer = setTimeout(() => {
      if (transfer.isAccepted && !transfer.isNotified) transfer.done.resolve();
      else transfer.done.reject(refusedTransfer("the other party hung up before"));
    }, reportMaxMs);
    await transfer.done.promise.catch(() => {});
    clearTimeout(timer);
  };

  return {
    transfer: async (target) => {
      if (isOver) throw new ServiceError("condition", "The call has ended");
      const uri = /^sips?:/i.test(target) ? target : `sip:${target}@${hostOf(dialog.remoteTarget)};user=phone`;
      const transfer: Transfer = { isAccepted: false, isNotified: false, done: Promise.withResolvers<void>() };
      current = transfer;
      refer({ "refer-to": `<${uri}>`, "referred-by": split(dialog.local, ";")[0] ?? "" }, (status) => {
        transfer.isAccepted ||= status >= 200 && status < 300;
        if (status >= 300) transfer.done.reject(refusedTransfer(`the other side answered ${status}`));
      });
      const late = new ServiceError("upstream_timeout", "The other side did not report the outcome of the transfer");
      const timer = setTimeout(() => transfer.done.reject(late), TRANSFER_MAX_MS);
      await transfer.done.promise.finally(() => {
        clearTimeout(timer);
        if (current === transfer) current = null;
      });
    },
    notified: (request) => {
      const status = Number(/^SIP\/2\.0 (\d{3})/.exec(bodyOf(request, "message/sipfrag"))?.[1] ?? 0);
      if (!current || status === 0) return;
      current.isNotified = true;
      if (status >= 300) current.done.reject(refusedTransfer(`the other side answered ${status}`));
      else if (status >= 200) current.done.resolve();
    },
    ended: async (how) => {
      isOver = true;
      if (!current) return;
      if (how === "hung_up") return hungUp(current);
      current.done.reject(refusedTransfer(how === "lost" ? "the connection was lost" : "we hung up before"));
    },
  };
}

function refusedTransfer(why: string): ServiceError {
  return new ServiceError("upstream_failed", `The call could not be transferred: ${why}`);
}

function hostOf(uri: string): string {
  return hostPort(readUri(uri)?.host || "invalid", null);
}
