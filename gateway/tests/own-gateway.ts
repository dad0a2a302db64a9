import { systemClock } from "@parley/shared/clock";
import { silentLogger } from "@parley/shared/log";
import { createAdmission } from "../src/admission.ts";
import { createApp } from "../src/app.ts";
import type { KeyRing } from "../src/auth/key-ring.ts";
import type { Clients } from "../src/clients.ts";
import type { GateContext } from "../src/gate.ts";
import { createRequestLog } from "../src/http/log-request.ts";
import { eventStreams } from "../src/live/streams.ts";
import { createGuesses } from "../src/rate-limit/guesses.ts";
import { memoryLimiter } from "../src/rate-limit/memory.ts";

/**
 * A gateway with limits of its own, whose clients all have one address.
 * @param clients the services that a test needs
 * @param findKey the grant of a key by its SHA-256; without it, nobody has a key
 * @param given parts of the gate that a test watches
 */
export function ownGateway(
  clients: object,
  findKey: KeyRing["find"] = () => Promise.reject(new Error("There are no keys")),
  given: Partial<Pick<GateContext, "holdOpen">> = {},
) {
  const gate: GateContext = {
    keys: { find: findKey, close: () => {} },
    accounts: { authenticateSession: async () => ({ session: undefined }), claimIdempotencyKey: async () => ({}) },
    keyLimiter: memoryLimiter(),
    addressLimiter: memoryLimiter(),
    signInLimiter: memoryLimiter(),
    guesses: createGuesses({ limiter: memoryLimiter() }),
    addressOf: () => "192.0.2.1",
    admission: createAdmission(() => ({ known: null, isKeyless: false, address: "192.0.2.1" })),
    logRequest: createRequestLog(silentLogger),
    publicUrl: "",
    holdOpen: () => () => {},
    streams: eventStreams(),
    clock: systemClock,
    log: silentLogger,
    ...given,
  };
  return createApp(gate, { accounts: {}, ...clients } as never as Clients, { isDraining: false });
}
