import { afterAll, beforeEach, expect, test } from "bun:test";
import { type PlivoApi, type PlivoFields, plivoApi } from "@parley/testkit/stand-ins/carriers/plivo-api";
import { type Carrier, CarrierRefusal } from "../../src/carriers/carrier.ts";
import { readTransfer } from "../../src/carriers/documents.ts";
import { plivoCarrier } from "../../src/carriers/plivo.ts";

const PUBLIC_URL = "https://api.acme.example";
const CARRIER_ID = "car_01m7yyhwgbk5r2v7x0z4b6d8f1";
const CALL_ID = "call_01m7yyhwgbk5r2v7x0z4b6d8f1";
const [FROM, TO] = ["+14155550152", "+14155550153"];
const account = { authId: "MA0123456789ABCDEF01", authToken: "the token", numbers: { [FROM]: null } };
const outgoing = { ownerId: "own_1", callId: CALL_ID, from: FROM, to: TO, ringSeconds: 45, detectMachine: true };
const wanted = { callId: CALL_ID, from: FROM, to: TO, since: new Date() };

let plivo: PlivoApi;
let carrier: Carrier;
let placed: PlivoFields[];
let changed: (PlivoFields | "hang_up")[];
let pressed: string[];
/** Our ids, by Plivo's. */
let known: Map<string, string>;
const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: (request) => plivo.fetch(request) });
afterAll(() => server.stop(true));

beforeEach(() => {
  [placed, changed, pressed, known] = [[], [], [], new Map()];
  plivo = plivoApi({
    placed: (_, __, asked) => void placed.push(asked),
    pressed: (_, digits) => void pressed.push(digits),
    changed: (_, call, asked) => {
      changed.push(asked);
      if (asked === "hang_up") call.call_status = "completed";
    },
  });
  plivo.addAccount(account);
  const callOf = async (carrierCallId: string) => known.get(carrierCallId) ?? null;
  carrier = plivoCarrier({
    baseUrl: server.url.origin,
    publicUrl: PUBLIC_URL,
    carrierId: CARRIER_ID,
    ...account,
    callOf,
  });
});

async function placedCall(): Promise<PlivoFields> {
  const { carrierCallId } = await carrier.place(outgoing);
  const call = plivo.calls(account.authId).get(carrierCallId);
  if (!call) throw new Error("no call");
  return call;
}

test("a call is placed with its id in every callback URL", async () => {
  await placedCall();
  const url = (event: string) => `${PUBLIC_URL}/v1/carriers/plivo/${CALL_ID}/${event}`;
  expect(placed[0]).toEqual({
    from: "14155550152",
    to: "14155550153",
    answer_url: url("answer"),
    answer_method: "POST",
    ring_url: url("ring"),
    ring_method: "POST",
    hangup_url: url("hangup"),
    hangup_method: "POST",
    ring_timeout: 45,
    machine_detection: "true",
    machine_detection_url: url("machine"),
    machine_detection_method: "POST",
  });
});

test("a refusal is final and has Plivo's own words", async () => {
  const refused = await carrier.place({ ...outgoing, from: "+14155550159" }).catch((error) => error);
  expect(refused).toBeInstanceOf(CarrierRefusal);
  expect(refused).toMatchObject({ code: "400", words: "from parameter is not a valid number" });
});

test("a call between the same numbers is taken as the one unless it is known to be another", async () => {
  const call = await placedCall();
  const carrierCallId = String(call.call_uuid);
  expect(await carrier.find(wanted)).toEqual({ carrierCallId, state: "queued", end: null });
  call.call_status = "in-progress";
  expect(await carrier.find(wanted)).toEqual({ carrierCallId, state: "in_progress", end: null });
  known.set(carrierCallId, CALL_ID);
  expect(await carrier.find(wanted)).toMatchObject({ carrierCallId });
  known.set(carrierCallId, "call_00000000000000000000000000");
  expect(await carrier.find(wanted)).toBeNull();
});

test.each([
  [
    { hangup_cause_name: "Normal Hangup", call_duration: 12 },
    { how: "completed", notes: null, durationSeconds: 12 },
  ],
  [
    { hangup_cause_name: "Busy Line", call_duration: 0 },
    { how: "busy", notes: "Plivo Busy Line", durationSeconds: 0 },
  ],
  [
    { hangup_cause_name: "No Answer", call_duration: 0 },
    { how: "no_answer", notes: "Plivo No Answer", durationSeconds: 0 },
  ],
  [
    { hangup_cause_name: "Rejected", call_duration: 0 },
    { how: "failed", notes: "Plivo Rejected", durationSeconds: 0 },
  ],
] as const)("the record of an ended call, %j, tells how it ended", async (record, end) => {
  const call = await placedCall();
  Object.assign(call, { call_status: "ended", end_time: "2026-01-31 09:30:00", ...record });
  expect(await carrier.find(wanted)).toEqual({ carrierCallId: String(call.call_uuid), state: "ended", end });
});

test("hanging up a call that has ended does nothing", async () => {
  const call = await placedCall();
  for (let time = 0; time < 2; time++) await carrier.hangUp(String(call.call_uuid));
  expect(changed).toEqual(["hang_up"]);
});

test("a transfer sends the call to one of our URLs that names the destination", async () => {
  const call = await placedCall();
  await carrier.transfer({ carrierCallId: String(call.call_uuid), ownNumber: FROM }, "+14155550199");
  const asked = changed[0] as { legs: string; aleg_url: string; aleg_method: string };
  expect(asked).toMatchObject({ legs: "aleg", aleg_method: "POST" });
  const [, event = ""] = asked.aleg_url.split(`${PUBLIC_URL}/v1/carriers/plivo/${CARRIER_ID}/`);
  expect(readTransfer(event)).toEqual({ from: FROM, to: "+14155550199" });
});

test("keys are pressed in order, and the call's stream stays", async () => {
  const call = await placedCall();
  await carrier.press(String(call.call_uuid), "12w#", []);
  expect(pressed).toEqual(["12", "#"]);
  expect(changed).toEqual([]);
});
