import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { VoiceFeature } from "../feature.ts";
import { type PersonCallsContext, personCalls } from "../outbound/people/person-calls.ts";
import type { CallbackCheck } from "../rpc/check-callback-id.ts";
import { handleCarrierCallback } from "../rpc/handle-carrier-callback.ts";
import { speakToNumber } from "../rpc/speak-to-number.ts";
import { type CallbackContext, checkTarget } from "./callbacks/handle-callback.ts";
import { type IncomingOptions, incomingCalls } from "./callbacks/incoming-calls.ts";
import { spokenCalls } from "./callbacks/spoken-calls.ts";
import type { CarriersOf } from "./carrier.ts";

export interface CarrierCallsContext
  extends IncomingOptions,
    PersonCallsContext,
    Omit<CallbackContext, "incoming" | "people" | "spoken" | "accounts"> {
  db: Database;
  clock: Clock;
  carriersOf: CarriersOf;
  accounts: IncomingOptions["accounts"] & CallbackContext["accounts"];
  /** The fault of a number to call; null if it has none. */
  numberFault(mobileNumber: string): string | null;
}

/** Calls over carriers' own APIs: their callbacks, incoming calls, calls to persons, and those in which a carrier says a sentence. */
export function carrierCalls(ctx: CarrierCallsContext) {
  const incoming = incomingCalls(ctx);
  const spoken = spokenCalls(ctx);
  const people = personCalls(ctx);
  const callbacks: CallbackContext = { ...ctx, incoming, people, spoken };
  const check =
    (provider: "twilio" | "plivo"): CallbackCheck =>
    (id, gone) =>
      checkTarget(callbacks, { provider, id }, gone);
  return {
    handlers: {
      handleCarrierCallback: handleCarrierCallback(callbacks),
      speakToNumber: speakToNumber({ spoken, numberFault: ctx.numberFault }),
    },
    queues: incoming.queues,
    sweeps: [incoming.sweep, people.sweep, spoken.sweep],
    checks: { twilio: check("twilio"), plivo: check("plivo") },
  } satisfies VoiceFeature & { checks: Record<string, CallbackCheck> };
}
