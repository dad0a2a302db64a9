import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { eventually } from "@parley/testkit/eventually";
import { carrierStandIn } from "../kit/calls/carrier-stand-in.ts";
import { startScriptedSpeech } from "../kit/calls/scripted-speech.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createKey, createSession } from "../kit/test-owner.ts";

const WITHIN_MS = 60_000;
const [TWILIO, PLIVO] = ["+12025550180", "+12025550181"];
const VOICEMAIL = "Please call us back.";
/** The person that a caller is connected to. */
const PERSON = "+12025550199";

const stack = await sharedStack();
const model = await startScriptedModel();
const speech = startScriptedSpeech("When do you open?", 0.5);
const [owner] = stack.owners;
const api = stack.api(owner.apiKey);
const manage = stack.manage(await createSession(stack, owner.ownerId));
const carrier = carrierStandIn(stack.address("carrier"));
/** Of the voice service. */
const db = openDatabase({ url: stack.databaseUrls.voice, max: 1, name: "test" });
for (const [account, mobile_number] of [
  [await carrier.addTwilio([TWILIO]), TWILIO],
  [await carrier.addPlivo([PLIVO]), PLIVO],
] as const) {
  const { body } = await manage.post("/carriers", account);
  expect(await manage.post(`/carriers/${body.carrier_id}/numbers`, { mobile_number })).toMatchObject({ status: 200 });
}
const agentId = await createAgent(api, model, {
  ...speech.settings,
  first_message_prompt: "Hello, this is Acme.",
  agent_mobile_number: [TWILIO, PLIVO],
  call_settings: { voicemail_message: VOICEMAIL },
  tools: { transfer_call: { transfer_phone_number: PERSON } },
});
afterAll(async () => {
  await model.stop();
  await speech.stop();
  await db.end();
  await stack.stop();
});

/** Makes the agent call a phone that behaves as the script says. */
async function called(to: string, from: string, script: object, more: object = {}, headers = {}) {
  await carrier.setPhone(to, script);
  const request = { agent_id: agentId, from_mobile_number: from, to_mobile_number: to, ...more };
  const { status, body } = await api.post("/calls", request, headers);
  expect([status, body]).toEqual([200, expect.objectContaining({ status: "QUEUED" })]);
  return { id: body.call_id as string, conversationId: body.conversation_id as string };
}

function until(id: string, status: string) {
  return eventually(async () => {
    const { body } = await api.get(`/calls/${id}`);
    expect(body.status).toBe(status);
    return body;
  }, WITHIN_MS);
}

/** The conversation of a call; it is complete soon after the call has ended. */
function ended(conversationId: string, status: string) {
  return eventually(async () => {
    const { body } = await api.get(`/conversations/${conversationId}`);
    expect(body.conversation_status).toBe(status);
    return body;
  }, WITHIN_MS);
}

async function atCarrier(to: string) {
  return (await carrier.calls()).filter((call) => call.to === to);
}

const CARRIERS = [
  ["Twilio", TWILIO, "+1202555030"],
  ["Plivo", PLIVO, "+1202555031"],
] as const;

test.each(CARRIERS)(
  "a call over %s can be hung up while it rings and while it is held, and rings once if requested twice with one key",
  async (_, from, phones) => {
    const [ringing, held] = [`${phones}0`, `${phones}1`];
    const key = { "idempotency-key": crypto.randomUUID() };
    const rings = await called(ringing, from, { ring_ms: 600_000 }, {}, key);
    const request = { agent_id: agentId, from_mobile_number: from, to_mobile_number: ringing };
    expect((await api.post("/calls", request, key)).body.call_id).toBe(rings.id);
    const talks = await called(held, from, { say: [], hang_up_after_ms: 600_000 });
    await until(rings.id, "RINGING");
    expect((await api.post(`/calls/${rings.id}/hangup`, {})).status).toBe(200);
    expect(await until(rings.id, "ENDED")).toMatchObject({ outcome: "CANCELLED", answered_at: null });
    expect(await atCarrier(ringing)).toMatchObject([{ rings: 1, status: "canceled" }]);

    await eventually(async () => expect((await atCarrier(held))[0]?.heard_bytes).toBeGreaterThan(0), WITHIN_MS);
    expect((await api.post(`/calls/${talks.id}/hangup`, {})).status).toBe(200);
    const { outcome } = await until(talks.id, "ENDED");
    expect(["SUCCESS", "HUNG_UP_EARLY"]).toContain(outcome);
    expect(await atCarrier(held)).toMatchObject([{ rings: 1, status: "completed" }]);
    // A call that has ended stays as it is.
    expect((await api.post(`/calls/${talks.id}/hangup`, {})).body).toMatchObject({ status: "ENDED", outcome });
  },
  2 * WITHIN_MS,
);

test.each(CARRIERS)(
  "an agent that calls over %s leaves its message on a voicemail",
  async (_, from, phones) => {
    const to = `${phones}2`;
    const script = { outcome: "machine", say: [], hang_up_after_ms: 600_000 };
    const { id, conversationId } = await called(to, from, script, { voicemail: "leave_message" });
    expect(await until(id, "ENDED")).toMatchObject({
      outcome: "SUCCESS",
      notes: "The agent left a message on the voicemail",
    });
    const body = await ended(conversationId, "COMPLETED");
    expect(JSON.stringify(body.conversation_transcript)).toContain(VOICEMAIL);
  },
  2 * WITHIN_MS,
);

test.each(CARRIERS)(
  "an agent that calls over %s connects the phone to a person on request",
  async (_, from, phones) => {
    const to = `${phones}3`;
    model.always((exchange) => {
      exchange.text("One moment, please.");
      exchange.toolCall("transfer_call", {});
      exchange.finish();
    });
    try {
      const { id, conversationId } = await called(to, from, { hang_up_after_ms: 600_000 });
      expect(await until(id, "ENDED")).toMatchObject({ outcome: "SUCCESS" });
      expect(await atCarrier(to)).toMatchObject([{ rings: 1, notes: [`dialled ${PERSON} from ${from}`] }]);
      const body = await ended(conversationId, "COMPLETED");
      expect(body.notes).toContain(PERSON);
      expect(JSON.stringify(body.conversation_transcript)).toContain("One moment, please.");
    } finally {
      model.always(null);
    }
  },
  2 * WITHIN_MS,
);

test(
  "a call that waits in the queue is hung up without a ring",
  async () => {
    const [first, second] = ["+12025550322", "+12025550323"];
    // The carrier is slow to accept, and calls of one account are placed one after the other.
    const ahead = await called(first, TWILIO, { accept_ms: 10_000, ring_ms: 600_000 });
    const waits = await called(second, TWILIO, { ring_ms: 600_000 });
    expect((await api.post(`/calls/${waits.id}/hangup`, {})).body).toMatchObject({ outcome: "CANCELLED" });
    expect((await api.post(`/calls/${ahead.id}/hangup`, {})).status).toBe(200);
    expect(await until(ahead.id, "ENDED")).toMatchObject({ outcome: "CANCELLED" });
    expect(await atCarrier(second)).toEqual([]);
    await ended(waits.conversationId, "DISCONNECTED");
  },
  2 * WITHIN_MS,
);

/** An hour of the day in UTC, this many hours from now. */
const hourFromNow = (hours: number) => `${String((new Date().getUTCHours() + hours) % 24).padStart(2, "0")}:00`;

async function batchOf(fields: object) {
  const { status, body } = await api.post("/call-batches", { agent_id: agentId, from_mobile_number: PLIVO, ...fields });
  expect([status, body]).toEqual([200, expect.objectContaining({ status: "RUNNING" })]);
  return body.batch_id as string;
}

test("a batch outside its window calls nobody until it opens, and a cancelled one never does", async () => {
  const batch = await batchOf({
    csv: "to_mobile_number,customer_name\n+12025550330,Ada\n+12025550331,Bob\n",
    window: { from_time: hourFromNow(2), to_time: hourFromNow(3), timezone: "UTC" },
  });
  const opensAt = await eventually(async () => {
    const [job] = await db<{ dueAt: Date }[]>`select due_at from jobs where job_id = ${`batch:${batch}`}`;
    expect(job?.dueAt.getTime()).toBeGreaterThan(Date.now());
    return job?.dueAt;
  }, WITHIN_MS);
  expect(opensAt?.toISOString()).toEndWith(":00:00.000Z");
  const counted = async () => (await api.get(`/call-batches/${batch}`)).body;
  expect((await counted()).counts).toMatchObject({ pending: 2, calling: 0 });
  expect((await api.post(`/call-batches/${batch}/cancel`, {})).status).toBe(200);
  expect(await counted()).toMatchObject({ status: "CANCELLED", counts: { pending: 0, cancelled: 2 } });
  expect((await api.get(`/calls?batch_id=${batch}`)).body.calls).toEqual([]);
});

test.each([
  ["numbers of a length that their country does not have", "+4930"],
  ["premium-rate numbers", "+19005550100"],
  ["texts that are no numbers", "nobody"],
])(
  "the check of a file refuses %s as the batch would, twenty by their lines and the others by their count",
  async (_, number) => {
    const csv = `to_mobile_number,name\r\n+12025550330,Ada\n,\r\n${`${number},Bob\r\n`.repeat(60)}`;
    const checked = await api.post("/call-batches/check", { csv });
    expect(checked.status).toBe(422);
    expect(checked.body.errors).toHaveLength(21);
    expect(checked.body.errors[0].message).toStartWith("csv line 4: to_mobile_number ");
    expect(checked.body.errors[20]).toEqual({ path: "csv", message: "and 40 more numbers are wrong" });
    const made = await api.post("/call-batches", { agent_id: agentId, from_mobile_number: PLIVO, csv });
    expect([made.status, made.body]).toEqual([422, checked.body]);
  },
);

test(
  "a batch calls busy and silent phones again, skips the do-not-call list, and calls nobody while it is paused",
  async () => {
    const [busy, silent, answers, denied] = ["+12025550340", "+12025550341", "+12025550342", "+12025550343"] as const;
    await carrier.setPhone(busy, { outcome: "busy" });
    await carrier.setPhone(silent, { outcome: "no_answer" });
    await carrier.setPhone(answers, { say: [] });
    expect((await manage.post("/do-not-call", { mobile_number: denied })).status).toBe(200);
    const batch = await batchOf({
      calls: [busy, silent, answers, denied].map((to_mobile_number) => ({ to_mobile_number })),
      retries: { max: 1, after_minutes: 60, on: ["busy", "no_answer"] },
    });
    const counted = async () => (await api.get(`/call-batches/${batch}`)).body;
    await eventually(async () => {
      const { counts } = await counted();
      expect(counts).toMatchObject({ pending: 2, calling: 0, do_not_call: 1, busy: 0, no_answer: 0 });
      expect(counts.success + counts.hung_up_early).toBe(1);
    }, WITHIN_MS);
    expect((await api.post(`/call-batches/${batch}/pause`, {})).body.status).toBe("PAUSED");
    // As if the hour had passed.
    await db`update batch_calls set due_at = now() where batch_id = ${batch} and status = 'PENDING'`;
    expect(await counted()).toMatchObject({ status: "PAUSED", counts: { pending: 2, calling: 0 } });
    expect((await api.post(`/call-batches/${batch}/resume`, {})).body.status).toBe("RUNNING");
    await eventually(async () => expect((await counted()).status).toBe("ENDED"), WITHIN_MS);
    expect((await counted()).counts).toMatchObject({ pending: 0, busy: 1, no_answer: 1, do_not_call: 1 });
    const { calls } = (await api.get(`/calls?batch_id=${batch}`)).body;
    const numbers = calls.map((call: { to_mobile_number: string }) => call.to_mobile_number);
    expect(numbers.toSorted()).toEqual([busy, busy, silent, silent, answers].toSorted());
    expect(await atCarrier(denied)).toEqual([]);
  },
  3 * WITHIN_MS,
);

test("a forbidden call is refused with the reason", async () => {
  const to = "+12025550320";
  const request = { agent_id: agentId, to_mobile_number: to };
  expect((await manage.post("/do-not-call", { mobile_number: to })).status).toBe(200);
  const listed = await api.post("/calls", request);
  expect([listed.status, JSON.stringify(listed.body)]).toEqual([422, expect.stringContaining("do-not-call list")]);
  const wrong = await api.post("/calls", { ...request, to_mobile_number: "12" });
  expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([422, expect.stringContaining("to_mobile_number")]);
  const [owner, other] = stack.owners;
  const { apiKey } = await createKey(stack.accounts, owner.ownerId, { scopes: ["agents:read"] });
  expect((await stack.api(apiKey).post("/calls", request)).status).toBe(403);
  expect((await stack.api(other.apiKey).post("/calls", request)).status).toBe(403);
  expect((await api.get("/calls/call_00000000000000000000000000")).status).toBe(404);
  expect(await atCarrier(to)).toEqual([]);
});
