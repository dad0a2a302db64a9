import { expect, test } from "bun:test";
import type { Call } from "@parley/shared/rpc/call";
import { fewUnverified } from "@parley/shared/shares/few-at-once";
import { serviceErrorOf } from "@parley/testkit/failures";
import { type CallbackContext, checkTarget } from "../carriers/callbacks/handle-callback.ts";
import { dailyConnections } from "../daily/connections.ts";
import type { DailyContext } from "../daily/context.ts";
import { checkConnection } from "../daily/handle-webhook.ts";
import { type CallbackCheck, checkCallbackId } from "./check-callback-id.ts";

const CARRIERS = ["TWILIO", "PLIVO", "DAILY", "SIP"];
/** car_…, the id of this provider's carrier. */
const carrierOf = (provider: string) => `car_${String(CARRIERS.indexOf(provider)).padStart(26, "0")}`;
const CALL = "call_00000000000000000000000001";
const SERVED = { signal: new AbortController().signal } as Call;

/** Checks against a carrier of each provider and one call, and fails if a carrier's secrets are read. */
function check(provider: string, id: string, operatorKey = "") {
  const accounts = {
    findCarrier: async ({ carrierId }: { carrierId: string }) => {
      const of = CARRIERS.find((each) => carrierOf(each) === carrierId);
      return {
        carrier: of
          ? { ownerId: "own_1", carrierId, provider: of, settings: undefined, createdAt: undefined }
          : undefined,
      };
    },
    getCarrierCredentials: () => Promise.reject(new Error("reads secrets")),
    listCarriers: () => Promise.reject(new Error("reads secrets")),
  };
  const verifyFewAtOnce = fewUnverified();
  const calledBack = { find: async (callId: string) => (callId === CALL ? { ownerId: "own_1", carrierId: "" } : null) };
  const nobody = { find: async () => null };
  const carriers = {
    accounts,
    calledBack,
    people: nobody,
    spoken: nobody,
    verifyFewAtOnce,
  } as unknown as CallbackContext;
  const connections = dailyConnections({ accounts, baseUrl: "http://127.0.0.1:1", operatorKey });
  const daily = { connections, verifyFewAtOnce } as DailyContext;
  const checks = new Map<string, CallbackCheck>([
    ["twilio", (id, gone) => checkTarget(carriers, { provider: "twilio", id }, gone)],
    ["plivo", (id, gone) => checkTarget(carriers, { provider: "plivo", id }, gone)],
    ["daily", (id, gone) => checkConnection(daily, id, gone)],
  ]);
  return checkCallbackId(checks)({ provider, id }, SERVED);
}

test.each([
  ["twilio", carrierOf("TWILIO")],
  ["plivo", carrierOf("PLIVO")],
  ["twilio", CALL],
  ["plivo", CALL],
  ["daily", carrierOf("DAILY")],
])("callbacks of %s about %s may come", async (provider, id) => {
  expect(await check(provider, id)).toEqual({});
});

test("webhooks of the operator's Daily domain may come if there is one", async () => {
  expect(await check("daily", "operator", "key")).toEqual({});
  expect(await serviceErrorOf(check("daily", "operator"))).toMatchObject({ kind: "not_found" });
});

test.each([
  ["twilio", carrierOf("PLIVO")],
  ["plivo", carrierOf("SIP")],
  ["plivo", "car_0000000000000000000000000z"],
  ["twilio", "call_0000000000000000000000000z"],
  ["twilio", "operator"],
  ["daily", carrierOf("TWILIO")],
  ["daily", CALL],
  ["whatsapp", carrierOf("TWILIO")],
])("callbacks of %s about %s are for nobody", async (provider, id) => {
  expect(await serviceErrorOf(check(provider, id))).toMatchObject({ kind: "not_found" });
});
