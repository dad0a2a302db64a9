import { afterAll, beforeEach, expect, test } from "bun:test";
import { type TwilioApi, type TwilioFields, twilioApi } from "@parley/testkit/stand-ins/carriers/twilio-api";
import { type Carrier, CarrierRefusal, CarrierUnavailable } from "../../src/carriers/carrier.ts";
import { twilioCarrier } from "../../src/carriers/twilio.ts";

const PUBLIC_URL = "https://api.acme.example";
const CALL_ID = "call_01m7yyhwgbk5r2v7x0z4b6d8f1";
const [FROM, TO] = ["+14155550150", "+14155550151"];
const account = { accountSid: `AC${"1".repeat(32)}`, authToken: "the token", numbers: { [FROM]: {} } };
const SINCE = new Date(Date.now() - 5_000);
const outgoing = { ownerId: "own_1", callId: CALL_ID, from: FROM, to: TO, ringSeconds: 45, detectMachine: false };
const wanted = { callId: CALL_ID, from: FROM, to: TO, since: SINCE };

let twilio: TwilioApi;
let carrier: Carrier;
/** The requests to Twilio, and the changes to calls. */
let placed: URLSearchParams[];
let changed: URLSearchParams[];
let answer: ((request: Request) => Promise<Response>) | null;
const server = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: (request) => (answer ?? twilio.fetch)(request),
});
afterAll(() => server.stop(true));

beforeEach(() => {
  [placed, changed, answer] = [[], [], null];
  twilio = twilioApi({
    placed: (_, __, form) => void placed.push(form),
    changed: (_, call, form) => {
      changed.push(form);
      if (form.has("Status")) call.status = "completed";
    },
  });
  twilio.addAccount(account);
  carrier = twilioCarrier({ baseUrl: server.url.origin, publicUrl: PUBLIC_URL, ...account });
});

/** Twilio's events of a call: the requests that the call made. */
const requested = (id: string) => [{ request: { url: `${PUBLIC_URL}/v1/carriers/twilio/${id}/status` }, response: {} }];

async function placedCall(): Promise<TwilioFields> {
  const { carrierCallId } = await carrier.place(outgoing);
  const call = twilio.calls(account.accountSid).get(carrierCallId);
  if (!call) throw new Error("no call");
  return call;
}

test("a call is placed with its id in every callback URL", async () => {
  const call = await placedCall();
  expect(call).toMatchObject({ from: FROM, to: TO });
  const url = (event: string) => `${PUBLIC_URL}/v1/carriers/twilio/${CALL_ID}/${event}`;
  expect([...(placed[0] ?? [])]).toEqual([
    ["From", FROM],
    ["To", TO],
    ["Url", url("answer")],
    ["Method", "POST"],
    ["Timeout", "45"],
    ["StatusCallback", url("status")],
    ["StatusCallbackMethod", "POST"],
    ["StatusCallbackEvent", "initiated"],
    ["StatusCallbackEvent", "ringing"],
    ["StatusCallbackEvent", "answered"],
    ["StatusCallbackEvent", "completed"],
  ]);
  await carrier.place({ ...outgoing, detectMachine: true });
  expect(Object.fromEntries(placed[1] ?? [])).toMatchObject({
    MachineDetection: "DetectMessageEnd",
    AsyncAmd: "true",
    AsyncAmdStatusCallback: url("machine"),
    AsyncAmdStatusCallbackMethod: "POST",
  });
});

test("a refusal is final and has Twilio's own code and words", async () => {
  const refused = await carrier.place({ ...outgoing, from: "+14155550159" }).catch((error) => error);
  expect(refused).toBeInstanceOf(CarrierRefusal);
  expect(refused).toMatchObject({ code: "21210", words: expect.stringContaining("is not yet verified") });
});

test.each([
  [503, {}, null],
  [429, { "retry-after": "3" }, 3_000],
] as const)("a response of %s is no refusal: the call may have been placed", async (status, headers, retryAfterMs) => {
  answer = async () => new Response("{}", { status, headers });
  const failed = await carrier.place(outgoing).catch((error) => error);
  expect(failed).toBeInstanceOf(CarrierUnavailable);
  expect(failed.retryAfterMs).toBe(retryAfterMs);
});

test("a call is found by its id among others between the same numbers", async () => {
  const [other, ours] = [await placedCall(), await placedCall()];
  other.events = requested("call_00000000000000000000000000");
  ours.events = requested(CALL_ID);
  Object.assign(ours, { status: "in-progress" });
  expect(await carrier.find(wanted)).toEqual({ carrierCallId: String(ours.sid), state: "in_progress", end: null });
  Object.assign(ours, { status: "no-answer", duration: "0" });
  expect(await carrier.find(wanted)).toMatchObject({
    state: "ended",
    end: { how: "no_answer", notes: null, durationSeconds: 0 },
  });
  ours.events = requested("call_00000000000000000000000000");
  expect(await carrier.find(wanted)).toBeNull();
});

test("a call that Twilio has not asked us about yet may be the one, so the number is not called again", async () => {
  await placedCall();
  expect(await carrier.find(wanted).catch((error) => error)).toBeInstanceOf(CarrierUnavailable);
});

test("calls placed before ours are ignored", async () => {
  const call = await placedCall();
  call.date_created = new Date(SINCE.getTime() - 120_000).toUTCString();
  expect(await carrier.find(wanted)).toBeNull();
});

test("hanging up a call that has ended does nothing", async () => {
  const call = await placedCall();
  for (let time = 0; time < 2; time++) await carrier.hangUp(String(call.sid));
  await carrier.hangUp(`CA${"0".repeat(32)}`);
  expect(changed.map((form) => form.toString())).toEqual(["Status=completed"]);
});

test("a transfer dials with our number, and its document is TwiML whatever the destination contains", async () => {
  const call = await placedCall();
  const carrierCallId = String(call.sid);
  await carrier.transfer({ carrierCallId, ownNumber: FROM }, "+14155550199");
  await carrier.transfer({ carrierCallId, ownNumber: FROM }, `sip:a&b@example.com?x=<"'>`);
  const documents = changed.map((form) => form.get("Twiml")?.split("\n")[1]);
  expect(documents).toEqual([
    `<Response><Dial callerId="${FROM}" timeLimit="1800"><Number>+14155550199</Number></Dial></Response>`,
    `<Response><Dial callerId="${FROM}" timeLimit="1800"><Sip>sip:a&amp;b@example.com?x=&lt;&quot;&apos;&gt;</Sip></Dial></Response>`,
  ]);
});

test("keys are pressed with a document that streams the call again", async () => {
  const call = await placedCall();
  await carrier.press(String(call.sid), "1w#", [
    "wss://voice.acme.example/media/a",
    "wss://voice.acme.example/media/b",
  ]);
  const stream = (token: string) => `<Connect><Stream url="wss://voice.acme.example/media/${token}"/></Connect>`;
  expect(changed[0]?.get("Twiml")?.split("\n")[1]).toBe(
    `<Response><Play digits="1w#"/>${stream("a")}${stream("b")}</Response>`,
  );
});
