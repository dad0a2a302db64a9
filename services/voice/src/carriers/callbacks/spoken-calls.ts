import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import { findSpokenCall, insertSpokenCall, type SpokenCall } from "../../store/spoken-calls.ts";
import type { CarriersOf } from "../carrier.ts";

/** Calls in which a carrier says a sentence to whoever answers. Nobody holds them, and they take no place. */
export interface SpokenCalls {
  /** @throws CarrierRefusal, CarrierUnavailable; ServiceError not_found for a carrier that is not connected */
  begin(call: Omit<SpokenCall, "callId"> & { from: string; to: string }): Promise<void>;
  /** Null for an id that is not of such a call. */
  find(callId: string): Promise<SpokenCall | null>;
}

const RING_SECONDS = 45;

export function spokenCalls(options: { db: Database; clock: Clock; carriersOf: CarriersOf }): SpokenCalls {
  const { db, clock } = options;
  return {
    begin: async ({ from, to, ...given }) => {
      const call = { ...given, callId: newId("call") };
      const carrier = await options.carriersOf(call.ownerId, call.carrierId);
      await insertSpokenCall(db, call, clock.now());
      const { ownerId, callId } = call;
      await carrier.place({ ownerId, callId, from, to, ringSeconds: RING_SECONDS, detectMachine: false });
    },
    find: (callId) => findSpokenCall(db, callId),
  };
}
