import { type Carrier, type CarrierCall, type CarrierEnd, CarrierUnavailable } from "../../src/carriers/carrier.ts";

export interface ScriptedCarrier extends Carrier {
  /** The numbers that rang, in order. */
  rang: string[];
  hungUp: string[];
  /** Runs in place of the next request that places a call; a call that `rings` exists from then on. */
  next(place: (rings: () => string) => Promise<{ carrierCallId: string }>): void;
  /** While set, the carrier answers no request. */
  isDown: boolean;
  /** How the call to a number has ended, as the carrier knows it. */
  end(to: string, how: CarrierEnd["how"]): void;
}

/** A carrier in memory, whose phones ring until a test says otherwise. */
export function scriptedCarrier(): ScriptedCarrier {
  const calls = new Map<string, CarrierCall & { to: string }>();
  const scripts: Parameters<ScriptedCarrier["next"]>[0][] = [];
  const check = () => {
    if (carrier.isDown) throw new CarrierUnavailable("down");
  };
  const carrier: ScriptedCarrier = {
    rang: [],
    hungUp: [],
    isDown: false,
    next: (script) => scripts.push(script),
    end: (to, how) => {
      for (const call of calls.values())
        if (call.to === to) Object.assign(call, { state: "ended", end: { how, notes: null, durationSeconds: null } });
    },
    place: async ({ callId, to }) => {
      check();
      const rings = () => {
        carrier.rang.push(to);
        const carrierCallId = `CA${carrier.rang.length}`;
        calls.set(callId, { carrierCallId, state: "ringing", end: null, to });
        return carrierCallId;
      };
      const script = scripts.shift();
      return script ? script(rings) : { carrierCallId: rings() };
    },
    find: async ({ callId }) => {
      check();
      return calls.get(callId) ?? null;
    },
    hangUp: async (carrierCallId) => {
      check();
      carrier.hungUp.push(carrierCallId);
      for (const call of calls.values())
        if (call.carrierCallId === carrierCallId)
          Object.assign(call, { state: "ended", end: { how: "cancelled", notes: null, durationSeconds: null } });
    },
    press: async () => {},
    transfer: async () => {},
  };
  return carrier;
}
