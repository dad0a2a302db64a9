import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { oldRows } from "@parley/shared/jobs/old-rows";
import type { VoiceFeature } from "../feature.ts";
import { type PersonCallsContext, personCalls } from "../outbound/people/person-calls.ts";
import type { CallbackCheck } from "../rpc/check-callback-id.ts";
import { handleCarrierCallback } from "../rpc/handle-carrier-callback.ts";
import { speakToNumber } from "../rpc/speak-to-number.ts";
import { OLD_INCOMING_CALLS } from "../store/incoming-calls.ts";
import { OLD_PERSON_CALLS } from "../store/person-calls.ts";
import { OLD_SPOKEN_CALLS } from "../store/spoken-calls.ts";
import { type CallbackContext, checkTarget } from "./callbacks/handle-callback.ts";
import { type IncomingOptions, incomingCalls } from "./callbacks/incoming-calls.ts";
import { spokenCalls } from "./callbacks/spoken-calls.ts";
import type { CarriersOf } from "./carrier.ts";

interface CarrierCallsContext
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

const SWEEP_EVERY_MS = 60_000;

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
    sweeps: [
      oldRows(ctx.db, "delete-incoming-calls", SWEEP_EVERY_MS, [OLD_INCOMING_CALLS]),
      oldRows(ctx.db, "delete-person-calls", SWEEP_EVERY_MS, [OLD_PERSON_CALLS]),
      oldRows(ctx.db, "delete-spoken-calls", SWEEP_EVERY_MS, [OLD_SPOKEN_CALLS]),
    ],
    checks: { twilio: check("twilio"), plivo: check("plivo") },
  } satisfies VoiceFeature & { checks: Record<string, CallbackCheck> };
}
