import { setTimeout as sleep } from "node:timers/promises";
import { plivoSignature, twilioSignature } from "@parley/shared/carriers/signatures";
import type { Script } from "./scripts.ts";

interface CallbackTarget {
  provider: "TWILIO" | "PLIVO";
  authToken: string;
  callbacks: Script["callbacks"];
  /** Called with each request that was answered, or that failed for good. */
  sent(url: string, status: number): void;
}

/** Callbacks of one call, signed as its carrier does. */
export interface Callbacks {
  /** Reports what happened. */
  tell(url: string, form: Record<string, string>): void;
  /** Asks for a document, and waits for it. @throws when the other side does not answer 200 */
  ask(url: string, form: Record<string, string>): Promise<string>;
  /** Reports what was held back, because the call has ended. */
  ended(): void;
}

/** Carriers retry a request without an answer. */
const RETRY_MS = [500, 1_000, 2_000, 4_000];
const TIMEOUT_MS = 15_000;

export function callbacksOf(target: CallbackTarget): Callbacks {
  const { callbacks } = target;
  const keptBack: (() => void)[] = [];
  let last = Promise.resolve();

  const deliver = (url: string, form: Record<string, string>) => {
    const send = async () => {
      if (callbacks.late_ms > 0) await sleep(callbacks.late_ms);
      for (let time = 0; time < (callbacks.twice ? 2 : 1); time++) await post(target, url, form).catch(() => {});
    };
    // A carrier whose callbacks are late does not keep their order.
    if (callbacks.late_ms > 0) void send();
    else last = last.then(send);
  };

  return {
    tell: (url, form) => {
      if (callbacks.reversed) keptBack.unshift(() => deliver(url, form));
      else deliver(url, form);
    },
    ask: async (url, form) => {
      const response = await post(target, url, form);
      if (response.status !== 200) throw new Error(`${url} answered ${response.status}`);
      return response.text;
    },
    ended: () => {
      for (const tell of keptBack.splice(0)) tell();
    },
  };
}

async function post(target: CallbackTarget, url: string, fields: Record<string, string>) {
  const form = new URLSearchParams(fields);
  for (let attempt = 0; ; attempt++) {
    try {
      const response = await fetch(url, {
        method: "POST",
        headers: signed(target, url, form),
        body: form,
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      if (response.status < 500 || attempt === RETRY_MS.length) {
        target.sent(url, response.status);
        return { status: response.status, text };
      }
    } catch (error) {
      if (attempt === RETRY_MS.length) {
        target.sent(url, 0);
        throw error;
      }
    }
    await sleep(RETRY_MS[attempt]);
  }
}

function signed({ provider, authToken }: CallbackTarget, url: string, form: URLSearchParams): Record<string, string> {
  if (provider === "TWILIO") return { "X-Twilio-Signature": twilioSignature(authToken, url, form) };
  const nonce = crypto.randomUUID();
  return {
    "X-Plivo-Signature-V3": plivoSignature(authToken, url, form, nonce),
    "X-Plivo-Signature-V3-Nonce": nonce,
  };
}
