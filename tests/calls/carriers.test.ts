import { afterAll, expect, test } from "bun:test";
import { twilioSignature } from "@parley/shared/carriers/signatures";
import { eventually } from "@parley/testkit/eventually";
import type { Answer, Api } from "../kit/api.ts";
import { carrierStandIn } from "../kit/calls/carrier-stand-in.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createMember, createSession } from "../kit/test-owner.ts";

const GREETING = "Hello, this is Acme.";
const WITHIN_MS = 60_000;
const [TWILIO, TWILIO_FREE, PLIVO] = ["+12025550140", "+12025550141", "+12025550142"];

const problem = ({ status, body }: Answer) => ({ status, ...body });

const stack = await sharedStack();
const model = await startScriptedModel();
model.always((exchange) => {
  exchange.text("We open at nine.");
  exchange.finish();
});
const [owner] = stack.owners;
const api = stack.api(owner.apiKey);
const manage = stack.manage(await createSession(stack, owner.ownerId));
const carrier = carrierStandIn(stack.address("carrier"));
const twilioId = await connected(await carrier.addTwilio([TWILIO, TWILIO_FREE]), [TWILIO, TWILIO_FREE]);
await connected(await carrier.addPlivo([PLIVO]), [PLIVO]);
const agentId = await createAgent(api, model, { first_message_prompt: GREETING, agent_mobile_number: [TWILIO, PLIVO] });
afterAll(async () => {
  await model.stop();
  await stack.stop();
});

/** Connects an account and imports its numbers. */
async function connected(account: object, numbers: readonly string[]): Promise<string> {
  const { status, body } = await manage.post("/carriers", account);
  if (status !== 200) throw new Error(JSON.stringify(body));
  for (const mobile_number of numbers) {
    const imported = await manage.post(`/carriers/${body.carrier_id}/numbers`, { mobile_number });
    if (imported.status !== 200) throw new Error(JSON.stringify(imported.body));
  }
  return body.carrier_id;
}

test("a carrier shows how the registration with a SIP trunk stands, to those who ask for it", async () => {
  const trunk = { provider: "SIP", host: "127.0.0.1:9", transport: "TCP", username: "acme", password: "the trunk's" };
  const trunkId = await connected(trunk, []);
  const addressedId = await connected({ ...trunk, username: "other", allowed_addresses: ["192.0.2.0/24"] }, []);
  const { carriers, ...addresses } = (await manage.get("/carriers?include=registration")).body;
  // The stack takes no SIP over TLS.
  expect(addresses).toEqual({ sip_address: expect.stringMatching(/^127\.0\.0\.1:\d+$/), sip_tls_address: null });
  const of = (id: string) => carriers.find(({ carrier_id }: { carrier_id: string }) => carrier_id === id).registration;
  expect(of(twilioId)).toBeNull();
  expect(of(addressedId)).toMatchObject({
    state: "NOT_REGISTERING",
    reason: expect.stringContaining("allowed_addresses"),
  });
  expect(["REGISTERING", "UNREACHABLE"]).toContain(of(trunkId).state);
  const one = await manage.get(`/carriers/${trunkId}?include=registration`);
  expect(one.body).toMatchObject({ carrier_id: trunkId, registration: { sip_status: of(trunkId).sip_status } });
  expect((await manage.get(`/carriers/${trunkId}`)).body).not.toHaveProperty("registration");
  expect((await manage.get(`/carriers/${trunkId}?include=secrets`)).status).toBe(422);
});

async function conversationsWith(number: string) {
  const { body } = await api.get("/conversations?conversation_type=TELEPHONY&page_size=100");
  return body.data.filter((each: { mobile_number?: string }) => each.mobile_number === number);
}

test.each([
  ["Twilio", TWILIO, "+12025550143"],
  ["Plivo", PLIVO, "+12025550144"],
] as const)(
  "a phone that calls a number of %s is answered by its agent, and the call is a conversation",
  async (_, to, from) => {
    const call = await carrier.callIn(to, { from, say: [] });
    const ended = await carrier.ended(call.carrier_call_id);
    expect(ended).toMatchObject({ status: "completed", notes: [] });
    // At least a second of the greeting.
    expect(ended.heard_bytes).toBeGreaterThan(8_000);
    await eventually(async () => {
      expect(await conversationsWith(from)).toMatchObject([
        {
          conversation_type: "TELEPHONY",
          calling_type: "INBOUND",
          conversation_metadata: { to_mobile_number: to, from_mobile_number: from },
        },
      ]);
      const [{ conversation_status }] = await conversationsWith(from);
      expect(["COMPLETED", "DISCONNECTED"]).toContain(conversation_status);
    }, WITHIN_MS);
  },
);

test.each([
  ["Twilio", TWILIO, "+12025550150", { outcome: "answer", say: [] }, "SUCCESS"],
  ["Plivo", PLIVO, "+12025550151", { outcome: "answer", say: [] }, "SUCCESS"],
  ["Twilio", TWILIO, "+12025550152", { outcome: "busy" }, "BUSY"],
  ["Plivo", PLIVO, "+12025550153", { outcome: "no_answer" }, "NO_ANSWER"],
  ["Twilio", TWILIO, "+12025550154", { outcome: "failed" }, "ERROR"],
  ["Plivo", PLIVO, "+12025550155", { outcome: "busy", callbacks: { twice: true, reversed: true } }, "BUSY"],
] as const)("an agent calls over %s, from %s to %s, a phone that does %j: %s", async (_, from, to, script, outcome) => {
  await carrier.setPhone(to, script);
  const request = { agent_id: agentId, from_mobile_number: from, to_mobile_number: to };
  const { status, body } = await api.post("/calls", request);
  expect([status, body]).toEqual([200, expect.objectContaining({ status: "QUEUED" })]);
  const ended = await eventually(async () => {
    const call = (await api.get(`/calls/${body.call_id}`)).body;
    if (call.status !== "ENDED") throw new Error(`the call is ${call.status}`);
    return call;
  }, WITHIN_MS);
  expect(ended.outcome).toBe(outcome);
  const rung = (await carrier.calls()).filter((call) => call.to === to);
  expect(rung.map(({ rings }) => rings)).toEqual([script.outcome === "failed" ? 0 : 1]);
});

test("a caller of a number without an agent hears that it is not in service, and leaves no conversation", async () => {
  const from = "+12025550147";
  const call = await carrier.callIn(TWILIO_FREE, { from });
  const { status, notes } = await carrier.ended(call.carrier_call_id);
  expect({ status, notes }).toEqual({ status: "completed", notes: ["said: This number is not in service."] });
  expect(await conversationsWith(from)).toEqual([]);
});

test("carriers' callbacks are refused over HTTP without a signature, without a call, and if they are too large", async () => {
  const send = (path: string, body: string, headers: Record<string, string> = {}) =>
    fetch(`${stack.url}/v1/carriers/${path}`, {
      method: "POST",
      headers: { "Content-Type": "application/x-www-form-urlencoded", ...headers },
      body,
    });
  const statusOf = async (...request: Parameters<typeof send>) => (await send(...request)).status;
  const form = new URLSearchParams({ CallSid: "CA1", To: TWILIO, From: "+12025550148" }).toString();
  const voice = `twilio/${twilioId}/voice`;
  expect(await statusOf(voice, form)).toBe(403);
  expect(await statusOf(voice, form, { "X-Twilio-Signature": "AAAAAAAAAAAAAAAAAAAAAAAAAAA=" })).toBe(403);
  expect(await statusOf(`plivo/${twilioId}/answer`, form)).toBe(404);
  expect(await statusOf("twilio/car_00000000000000000000000000/voice", form)).toBe(404);
  expect(await statusOf("twilio/call_00000000000000000000000000/status", form)).toBe(404);
  expect(await statusOf("vonage/car_00000000000000000000000000/voice", form)).toBe(404);
  expect(await statusOf(voice, `a=${"b".repeat(17_000)}`)).toBe(413);
  expect(await statusOf(voice, "{}", { "Content-Type": "application/json" })).toBe(415);
  // An owner's signature is valid for its own carrier, not for another owner's.
  const [, other] = stack.owners;
  const account = await carrier.addTwilio([]);
  await stack.manage(await createSession(stack, other.ownerId)).post("/carriers", account);
  const url = `${stack.url}/v1/carriers/${voice}`;
  const foreign = twilioSignature(account.auth_token, url, new URLSearchParams(form));
  expect(await statusOf(voice, form, { "X-Twilio-Signature": foreign })).toBe(403);
  const metrics = await stack.metrics("voice");
  expect(metrics).toMatch(/parley_carrier_callbacks\w*\{[^}]*result="forged"[^}]*\} [1-9]/);
  expect(metrics).toMatch(/parley_carrier_callbacks\w*\{[^}]*result="unknown"[^}]*\} [1-9]/);
});

test("numbers are added, listed and removed, and belong to one owner", async () => {
  const [one, other] = [await createMember(stack), await createMember(stack)];
  const number = { mobile_number: "+442071838750", telephony_provider: "TWILIO" };
  const own = { ...number, carrier_id: null };
  expect((await one.manage.post("/mobile-numbers", number)).body).toEqual(own);
  expect((await one.manage.get("/mobile-numbers")).body).toEqual({ mobile_numbers: [own] });
  expect((await stack.api(one.apiKey).get("/mobile-numbers")).body.purchased_mobile_numbers).toEqual([number]);
  expect(problem(await other.manage.post("/mobile-numbers", number))).toMatchObject({ status: 409 });
  const remove = (manage: Api, text = number.mobile_number) =>
    manage.send("DELETE", `/mobile-numbers/${encodeURIComponent(text)}`);
  const gone = { status: 404, detail: "Mobile number not found" };
  expect(problem(await remove(other.manage))).toEqual(gone);
  expect(problem(await remove(one.manage, "12"))).toEqual(gone);
  expect((await remove(one.manage)).body).toEqual({ message: "Mobile number removed" });
  expect(problem(await remove(one.manage))).toEqual(gone);
});

test("a carrier is connected, its numbers imported, and shown to API clients only if they ask for SIP", async () => {
  const [{ manage, apiKey }, other] = [await createMember(stack), await createMember(stack)];
  const trunk = { provider: "SIP", host: "trunk.example", username: "acme", password: "the trunk's password" };
  const { body: carrier } = await manage.post("/carriers", trunk);
  const id = expect.stringMatching(/^car_[0-9a-z]{26}$/);
  const shown = { transport: "UDP", password: "********word", allowed_addresses: [] };
  expect(carrier).toEqual({ carrier_id: id, ...trunk, ...shown, created_at: expect.any(String) });
  expect((await manage.get(`/carriers/${carrier.carrier_id}`)).body).toEqual(carrier);
  expect((await manage.get("/carriers")).body).toEqual({ carriers: [carrier] });
  expect((await manage.get(`/carriers/${carrier.carrier_id}/numbers`)).body).toEqual({ numbers: [] });
  const number = { mobile_number: "+442071838757", telephony_provider: "SIP", carrier_id: carrier.carrier_id };
  const numbers = `/carriers/${carrier.carrier_id}/numbers`;
  expect((await manage.post(numbers, { mobile_number: number.mobile_number })).body).toEqual(number);
  const listed = async (query: string) =>
    (await stack.api(apiKey).get(`/mobile-numbers${query}`)).body.purchased_mobile_numbers;
  expect(await listed("")).toEqual([]);
  const { carrier_id: _, ...public_ } = number;
  expect(await listed("?include=sip")).toEqual([public_]);
  expect(problem(await manage.send("DELETE", `/carriers/${carrier.carrier_id}`))).toMatchObject({ status: 409 });
  await manage.send("DELETE", `/mobile-numbers/${encodeURIComponent(number.mobile_number)}`);
  expect((await manage.send("DELETE", `/carriers/${carrier.carrier_id}`)).body).toEqual({
    message: "Carrier disconnected",
  });
  const wrong = await manage.post("/carriers", { provider: "SIP", api_key: "not of a trunk" });
  expect(wrong.body.errors).toEqual([
    { path: "host", message: "host is required" },
    { path: "api_key", message: expect.stringContaining("is not taken by SIP, which takes host") },
  ]);
  expect(problem(await other.manage.get(`/carriers/${carrier.carrier_id}`))).toMatchObject({ status: 404 });
});
