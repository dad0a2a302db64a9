import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import fc from "fast-check";
import type { Answer } from "../kit/api.ts";
import { carrierStandIn } from "../kit/calls/carrier-stand-in.ts";
import { type ScriptedPhone, scriptedPhones } from "../kit/calls/scripted-phones.ts";
import { startScriptedSpeech } from "../kit/calls/scripted-speech.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { startTestStack } from "../kit/stack/test-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";

/** The long run, which does not need the test command: PARLEY_TEST_CALLS=500 bun test <this file>. */
const CALLS = Number(process.env.PARLEY_TEST_CALLS ?? 12);
const KILLS = Math.ceil(CALLS / 6);
/** The seed of phones and kills; printed, so that a run can be repeated. */
const SEED = Number(process.env.PARLEY_TEST_SEED ?? Math.trunc(Math.random() * 2 ** 31));
const WITHIN_MS = 180_000 + CALLS * 5_000;
const VICTIMS = [
  "voice",
  "voice",
  "voice",
  "account",
  "agent",
  "prompt",
  "conversation",
  "gateway",
  "webhook-dispatcher",
  "messaging",
  "redis",
  "postgres",
] as const;
const [TWILIO, PLIVO] = ["+12025550170", "+12025550171"];
/** How long a delivery may be in progress before the receiver has noted it. */
const UNDER_WAY_MS = 5_000;
/** The conversation's status for each outcome of a call (docs/outbound-calls.md). */
const STATUSES: Readonly<Record<string, string>> = {
  SUCCESS: "COMPLETED",
  BUSY: "DISCONNECTED",
  NO_ANSWER: "DISCONNECTED",
  CANCELLED: "DISCONNECTED",
  HUNG_UP_EARLY: "DISCONNECTED",
  ERROR: "FAILED",
};

interface Call {
  call_id: string;
  conversation_id: string;
  to_mobile_number: string;
  status: string;
  outcome: string;
  notes: string | null;
}

const received: { conversationId: string; eventId: string; at: number }[] = [];
const stack = await startTestStack({
  env: {
    PARLEY_CALLS_CONCURRENT_MAX: "20",
    PARLEY_CALLS_PER_SECOND: "5",
    PARLEY_CALLS_PER_DAY: "10000",
    PARLEY_WEBHOOK_RETRY_MS: "200",
    PARLEY_WEBHOOK_LEASE_MS: "2000",
  },
  postgres: "embedded",
  without: ["model", "whatsapp", "daily", "knowledge"],
});
const model = await startScriptedModel();
model.always((exchange) => {
  exchange.text("We open at nine.");
  exchange.finish();
});
const speech = startScriptedSpeech("When do you open?", 0.5);
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const payload = JSON.parse(String((await request.formData()).get("payload")));
    const eventId = request.headers.get("webhook-id") ?? "";
    received.push({ conversationId: payload.conversation_id, eventId, at: Date.now() });
    return new Response("thank you");
  },
});
const [owner] = stack.owners;
const api = stack.api(owner.apiKey);
const carrier = carrierStandIn(stack.address("carrier"));
const manage = stack.manage(await createSession(stack, owner.ownerId));
const hook = { name: "Ours", url: `http://127.0.0.1:${receiver.port}/hook`, request_type: "POST" };
expect(await manage.post("/destinations", hook)).toMatchObject({ status: 200 });
for (const [account, mobile_number] of [
  [await carrier.addTwilio([TWILIO]), TWILIO],
  [await carrier.addPlivo([PLIVO]), PLIVO],
] as const) {
  const { body } = await manage.post("/carriers", account);
  expect(await manage.post(`/carriers/${body.carrier_id}/numbers`, { mobile_number })).toMatchObject({ status: 200 });
}
afterAll(async () => {
  await stack.stop();
  await receiver.stop(true);
  await speech.stop();
  await model.stop();
}, 60_000);

test(
  `${CALLS} calls end once each, with one webhook, and ring nobody twice, whatever is killed in the meantime`,
  async () => {
    const beganAt = Date.now();
    console.log(`PARLEY_TEST_SEED=${SEED}`);
    const agentId = await createAgent(api, model, {
      ...speech.settings,
      first_message_prompt: "Hello, this is Acme.",
      agent_mobile_number: [TWILIO, PLIVO],
      call_settings: { voicemail_message: "Please call us back." },
    });
    const phones = scriptedPhones(CALLS, SEED, (index) => `+1415555${String(1_000 + index)}`);
    for (const { number, script } of phones) await carrier.setPhone(number, script);
    const killed: { victim: string; at: number }[] = [];
    await Promise.all([placeAll(agentId, phones), killAll(killed)]);

    const told = () => new Set(received.map(({ conversationId }) => conversationId));
    await eventually(() => expect(told().size).toBe(CALLS), WITHIN_MS);
    const calls = await listAll<Call>("/calls", "calls");
    expect(calls.map((call) => call.to_mobile_number).toSorted()).toEqual(phones.map(({ number }) => number));
    expect(calls.filter(({ status }) => status !== "ENDED")).toEqual([]);
    expect([...told()].toSorted()).toEqual(idsOf(calls));
    const listed = await listAll<{ conversation_id: string; conversation_status: string }>("/conversations", "data");
    expect(listed.map(({ conversation_id: id }) => id).toSorted()).toEqual(idsOf(calls));
    const conversations = new Map(listed.map((each) => [each.conversation_id, each.conversation_status]));

    const rung = Map.groupBy(await carrier.calls(), ({ to }) => to);
    const byNumber = new Map(calls.map((call) => [call.to_mobile_number, call]));
    const deliveries = Map.groupBy(received, ({ conversationId }) => conversationId);
    const wrong: object[] = [];
    for (const { number, outcomes, script } of phones) {
      const call = byNumber.get(number) as Call;
      const { conversation_id: id, outcome } = call;
      const [placed = [], events = []] = [rung.get(number), deliveries.get(id)];
      const status = conversations.get(id);
      const isRight =
        outcomes.includes(outcome) &&
        status === STATUSES[outcome] &&
        placed.length === 1 &&
        placed.every(({ rings }) => rings <= 1) &&
        new Set(events.map(({ eventId }) => eventId)).size === 1;
      if (!isRight) wrong.push({ call, status, script, placed, events });
    }
    const repeats = [...deliveries.values()].flatMap(([first, ...again]) =>
      again.map(({ at }) => [first?.at ?? 0, at]),
    );
    const unexplained = repeats.filter(
      ([first = 0, at = 0]) => !killed.some((kill) => kill.at > first - UNDER_WAY_MS && kill.at < at),
    );
    const seconds = Math.round((Date.now() - beganAt) / 1_000);
    console.log(
      `${CALLS} calls, ${killed.length} kills (${killed.map(({ victim }) => victim).join(" ")}) in ${seconds} s; ` +
        `${repeats.length} webhooks repeated; ${wrong.length} wrong`,
    );
    const ends = Map.groupBy(calls, ({ outcome, notes }) => [outcome, notes].filter(Boolean).join(": "));
    for (const [end, all] of ends) console.log(`${String(all.length).padStart(6)} ${end}`);
    expect(wrong).toEqual([]);
    expect(unexplained).toEqual([]);
  },
  WITHIN_MS * 3,
);

/** Half of the calls over each carrier; half of those in a batch. */
async function placeAll(agentId: string, phones: readonly ScriptedPhone[]): Promise<void> {
  const groups = Map.groupBy(phones.entries(), ([index, { voicemail }]) => {
    const from_mobile_number = index % 2 === 0 ? TWILIO : PLIVO;
    return JSON.stringify({ agent_id: agentId, from_mobile_number, ring_seconds: 20, ...(voicemail && { voicemail }) });
  });
  const placing = [...groups].map(async ([json, group]) => {
    const settings = JSON.parse(json);
    const numbers = group.map(([, { number }]) => number);
    const inBatch = numbers.slice(0, numbers.length / 2);
    const rows = inBatch.map((number) => `${number},Ada\n`).join("");
    if (inBatch.length > 0)
      await untilTaken("/call-batches", { ...settings, csv: `to_mobile_number,customer_name\n${rows}` });
    for (const to_mobile_number of numbers.slice(inBatch.length))
      await untilTaken("/calls", { ...settings, to_mobile_number });
  });
  await Promise.all(placing);
}

/** Makes a request as a careful client does: repeats it with the same key until there is an answer. */
async function untilTaken(path: string, body: object): Promise<void> {
  const headers = { "idempotency-key": crypto.randomUUID() };
  await eventually(async () => isOk(await api.post(path, body, headers)), WITHIN_MS);
}

/** Kills one process after the other, each when some more calls have been placed. */
async function killAll(killed: { victim: string; at: number }[]): Promise<void> {
  const kill = fc.record({ victim: fc.constantFrom(...VICTIMS), afterMs: fc.integer({ min: 0, max: 1_500 }) });
  for (const [at, { victim, afterMs }] of fc.sample(kill, { numRuns: KILLS, seed: SEED }).entries()) {
    await eventually(async () => {
      expect((await carrier.calls()).length).toBeGreaterThanOrEqual((CALLS * at) / KILLS);
    }, WITHIN_MS);
    await Bun.sleep(afterMs);
    killed.push({ victim, at: Date.now() });
    await stack.kill(victim).back;
  }
}

async function listAll<T>(path: string, field: string): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page++) {
    const body = isOk(await api.get(`${path}?page=${page}&page_size=100`));
    all.push(...body[field]);
    if (body[field].length < 100) return all;
  }
}

function isOk({ status, body }: Answer): Answer["body"] {
  if (status !== 200) throw new Error(`${status}: ${JSON.stringify(body)}`);
  return body;
}

function idsOf(calls: readonly Call[]): string[] {
  return calls.map(({ conversation_id: id }) => id).toSorted();
}
