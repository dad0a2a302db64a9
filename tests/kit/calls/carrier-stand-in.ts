import { eventually } from "@parley/testkit/eventually";

/** A call as the stand-in reports it. */
export interface StandInCall {
  carrier_call_id: string;
  direction: "inbound" | "outbound";
  from: string;
  to: string;
  status: string;
  rings: number;
  heard_bytes: number;
  said_lines: number;
  notes: string[];
}

/** Phones and accounts of the stack's stand-in for carriers. */
export interface CarrierStandIn {
  /** Adds an account with numbers. @returns the fields with which it is connected */
  addTwilio(numbers: readonly string[]): Promise<{ provider: "TWILIO"; account_sid: string; auth_token: string }>;
  addPlivo(numbers: readonly string[]): Promise<{ provider: "PLIVO"; auth_id: string; auth_token: string }>;
  /** Sets the behavior of a phone that agents call. */
  setPhone(number: string, script: object): Promise<void>;
  /** Makes a phone call a number. */
  callIn(to: string, script?: object): Promise<StandInCall>;
  calls(): Promise<StandInCall[]>;
  /** Waits until a call has ended. */
  ended(id: string): Promise<StandInCall>;
}

const OVER = ["completed", "busy", "no-answer", "canceled", "failed"];
const WITHIN_MS = 60_000;

/** @param address host:port */
export function carrierStandIn(address: string): CarrierStandIn {
  const send = async (method: string, path: string, body?: object) => {
    const response = await fetch(`http://${address}/control${path}`, { method, body: body && JSON.stringify(body) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${text}`);
    return JSON.parse(text);
  };
  const newToken = () => crypto.randomUUID().replaceAll("-", "");
  return {
    addTwilio: async (numbers) => {
      const account = { account_sid: `AC${crypto.randomUUID().replaceAll("-", "")}`, auth_token: newToken() };
      await send("POST", "/accounts", { provider: "TWILIO", ...account, numbers });
      return { provider: "TWILIO", ...account };
    },
    addPlivo: async (numbers) => {
      const account = {
        auth_id: `MA${crypto.randomUUID().replaceAll("-", "").toUpperCase().slice(0, 18)}`,
        auth_token: newToken(),
      };
      await send("POST", "/accounts", { provider: "PLIVO", ...account, numbers });
      return { provider: "PLIVO", ...account };
    },
    setPhone: (number, script) => send("PUT", `/phones/${encodeURIComponent(number)}`, script),
    callIn: (to, script = {}) => send("POST", "/calls", { to, ...script }),
    calls: async () => (await send("GET", "/calls")).calls,
    ended: (id) =>
      eventually(async () => {
        const call = await send("GET", `/calls/${id}`);
        if (!OVER.includes(call.status)) throw new Error(`the call is ${call.status}`);
        return call;
      }, WITHIN_MS),
  };
}
