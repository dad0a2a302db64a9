import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { type Caller, startCaller } from "../kit/calls/caller.ts";
import { dailyPeople } from "../kit/calls/daily-stand-in.ts";
import { phoneSentence } from "../kit/calls/phone-sentence.ts";
import { marked, startScriptedSpeech } from "../kit/calls/scripted-speech.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { startTestStack } from "../kit/stack/test-stack.ts";
import { findProcess } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";

/** The long run: PARLEY_TEST_CALLS=50 bun run test tests/faults/call-faults.test.ts. */
const CALLS = Number(process.env.PARLEY_TEST_CALLS ?? 4);
const WITHIN_MS = 90_000 + CALLS * 2_000;
/** The length of a question, the silence after it and the answer. */
const TURN_MS = 4_000;
const STANDSTILL = "The process that held this call stopped unexpectedly";

/** The conversations of the webhooks that arrived. */
const received: string[] = [];
const callers: Caller[] = [];
let talking: Timer;
const stack = await startTestStack({
  env: { PARLEY_CALLS_CONCURRENT_MAX: "1000", PARLEY_RTP_PORTS: "40000-40999", PARLEY_WEBHOOK_RETRY_MS: "100" },
  without: ["model", "carrier", "whatsapp", "messaging", "knowledge"],
});
const model = await startScriptedModel();
model.always((exchange) => {
  exchange.text("That is a good question, and the answer is yes.");
  exchange.finish();
});
const speech = startScriptedSpeech("What about the other one?", 0.5, "marked");
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    const form = await request.formData();
    received.push(JSON.parse(String(form.get("payload"))).conversation_id);
    return new Response("thank you");
  },
});
const [owner] = stack.owners;
const api = stack.api(owner.apiKey);
const manage = stack.manage(await createSession(stack, owner.ownerId));
const hook = { name: "Ours", url: `http://127.0.0.1:${receiver.port}/hook`, request_type: "POST" };
expect(await manage.post("/destinations", hook)).toMatchObject({ status: 200 });
afterAll(async () => {
  clearInterval(talking);
  for (const caller of callers) caller.close();
  await stack.stop();
  await receiver.stop(true);
  await speech.stop();
  await model.stop();
}, WITHIN_MS);

test(
  "whatever is killed in the middle of calls, each conversation ends once and right, with one webhook, and rooms are deleted",
  async () => {
    const agentId = await createAgent(api, model, speech.settings);
    const sentence = marked(await phoneSentence(stack, "What about the other one?"));
    const { sip_address: sip = "" } = findProcess(stack.home, "voice");
    for (let number = 0; number < CALLS; number++) callers.push(await startCaller(sip, agentId));
    const ask = () => {
      for (const caller of callers) caller.say(sentence);
    };
    ask();
    talking = setInterval(ask, TURN_MS);
    await untilTalking(agentId, 2);

    // The calls survive the death of the conversation service.
    await atARandomMoment();
    await stack.kill("conversation").back;
    const before = await conversationsOf(agentId);
    await untilTalking(agentId, Math.max(...before.map(({ conversation_transcript: items }) => items.length)) + 2);

    // Half of the callers hang up; the voice service is killed during the calls of the others.
    const [leaving, staying] = [callers.slice(0, CALLS / 2), callers.slice(CALLS / 2)];
    await Promise.all(leaving.map((caller) => caller.hangUp()));
    await eventually(async () => expect(await countOf(agentId, "COMPLETED")).toBe(leaving.length), WITHIN_MS);
    const session = await meetInRoom();
    await atARandomMoment();
    await stack.kill("voice").back;
    await eventually(async () => expect(await countOf(agentId, "FAILED")).toBe(staying.length), WITHIN_MS);
    await eventually(async () => expect(await countOf(session.agentId, "FAILED")).toBe(1), WITHIN_MS);
    await dailyPeople(stack.address("daily")).deleted(session.roomName);

    const after = [...(await conversationsOf(agentId)), ...(await conversationsOf(session.agentId))];
    expect(after).toHaveLength(CALLS + 1);
    for (const { conversation_status: status, notes } of after) {
      if (status === "FAILED") expect(notes).toBe(STANDSTILL);
    }
    await eventually(() => expect(received.length).toBeGreaterThanOrEqual(CALLS + 1), WITHIN_MS);
    expect(received.toSorted()).toEqual(after.map(({ conversation_id: id }) => id).toSorted());
  },
  WITHIN_MS,
);

/** An agent is in a Daily room with a person who stays. */
async function meetInRoom(): Promise<{ agentId: string; roomName: string }> {
  const agentId = await createAgent(api, model, speech.settings);
  const { status, body } = await api.post("/daily/sessions", { agent_id: agentId });
  expect(status).toBe(200);
  const people = dailyPeople(stack.address("daily"));
  await people.join(body.room_name, body.token, { say: [], leave_after_ms: 3_600_000 });
  await eventually(async () => expect((await people.room(body.room_name)).is_agent_here).toBeTrue(), WITHIN_MS);
  return { agentId, roomName: body.room_name };
}

/** A random moment within a turn: anything may be in progress. */
function atARandomMoment(): Promise<void> {
  return Bun.sleep(Math.random() * TURN_MS);
}

interface Conversation {
  conversation_id: string;
  conversation_status: string;
  notes: string | null;
  conversation_transcript: unknown[];
}

async function conversationsOf(agentId: string): Promise<Conversation[]> {
  const { status, body } = await api.get(`/conversations?agent_id=${agentId}&page_size=100`);
  expect(status).toBe(200);
  return body.data;
}

async function countOf(agentId: string, wanted: string): Promise<number> {
  const all = await conversationsOf(agentId);
  return all.filter(({ conversation_status: status }) => status === wanted).length;
}

/** Each call has this many messages. */
async function untilTalking(agentId: string, itemsMin: number): Promise<void> {
  await eventually(async () => {
    const all = await conversationsOf(agentId);
    expect(all).toHaveLength(CALLS);
    for (const { conversation_transcript: items } of all) expect(items.length).toBeGreaterThanOrEqual(itemsMin);
  }, WITHIN_MS);
}
