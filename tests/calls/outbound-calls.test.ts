import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { startCaller } from "../kit/calls/caller.ts";
import { carrierStandIn } from "../kit/calls/carrier-stand-in.ts";
import { phoneSentence } from "../kit/calls/phone-sentence.ts";
import { startScriptedSpeech } from "../kit/calls/scripted-speech.ts";
import { startScriptedModel } from "../kit/scripted-model.ts";
import { sharedStack } from "../kit/stack/shared-stack.ts";
import { findProcess } from "../kit/stack/use-stack.ts";
import { createAgent } from "../kit/test-agent.ts";
import { createSession } from "../kit/test-owner.ts";

const WITHIN_MS = 60_000;
const [TWILIO, PLIVO, ANOTHER] = ["+12025550180", "+12025550181", "+12025550182"];
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
/** What the owner's webhook is told. */
const told: Record<string, unknown>[] = [];
const receiver = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async (request) => {
    told.push(JSON.parse(String((await request.formData()).get("payload"))));
    return new Response();
  },
});
const events = ["transfer.completed", "transfer.failed"];
const webhook = { name: "CRM", url: receiver.url.href, request_type: "POST", events };
expect(await manage.post("/destinations", webhook)).toMatchObject({ status: 200 });
/** Of the voice service. */
for (const [account, mobile_number] of [
  [await carrier.addTwilio([TWILIO]), TWILIO],
  [await carrier.addPlivo([PLIVO]), PLIVO],
  [await carrier.addTwilio([ANOTHER]), ANOTHER],
] as const) {
  const { body } = await manage.post("/carriers", account);
  expect(await manage.post(`/carriers/${body.carrier_id}/numbers`, { mobile_number })).toMatchObject({ status: 200 });
}
const agentId = await createAgent(api, model, {
  ...speech.settings,
  first_message_prompt: "Hello, this is Acme.",
  agent_mobile_number: [TWILIO, PLIVO],
  call_settings: { voicemail_message: VOICEMAIL },
  tools: { transfer_call: { transfer_phone_number: PERSON }, send_dtmf: true },
});
afterAll(async () => {
  await receiver.stop(true);
  await model.stop();
  await speech.stop();
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

/** Waits until the owner is told that a call was transferred, once. */
async function transferred(conversationId: string, to: string, mode: string): Promise<void> {
  const ofCall = () => told.filter(({ conversation_id }) => conversation_id === conversationId);
  const transfer = { to, mode, outcome: "accepted" };
  await eventually(() => expect(ofCall()).toMatchObject([{ event: "transfer.completed", transfer }]), WITHIN_MS);
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
    // The carrier is told while the end is stored.
    const over = [{ rings: 1, status: "completed" }];
    await eventually(async () => expect(await atCarrier(held)).toMatchObject(over), WITHIN_MS);
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
      await transferred(conversationId, PERSON, "blind");
      expect(JSON.stringify(body.conversation_transcript)).toContain("One moment, please.");
    } finally {
      model.always(null);
    }
  },
  2 * WITHIN_MS,
);

test.each(CARRIERS)(
  "an agent that calls over %s presses keys on request, and goes on without greeting again",
  async (_, from, phones) => {
    const to = `${phones}4`;
    const GREETING = "Hello, this is Acme.";
    model.always((exchange) => {
      const { messages } = exchange.request.body;
      const hasPressed = JSON.stringify(messages).includes("keys 1w2#");
      if (hasPressed) exchange.text("Thank you, goodbye.");
      else exchange.toolCall("send_dtmf", { keys: "1w2#" });
      exchange.finish();
    });
    try {
      const { id, conversationId } = await called(to, from, { say: ["Press one.", "Thank you."] });
      expect(await until(id, "ENDED")).toMatchObject({ outcome: "SUCCESS", notes: null });
      const [{ rings, notes } = { rings: 0, notes: [] }] = await atCarrier(to);
      expect([rings, notes]).toEqual([1, from === TWILIO ? ["pressed 1w2#"] : ["pressed 1", "pressed 2#"]]);
      const { conversation_transcript: said } = await ended(conversationId, "COMPLETED");
      const ofAgent = said.flatMap(({ role, content }: { role: string; content: string }) =>
        role === "assistant" ? [content] : [],
      );
      expect(ofAgent[0]).toBe(GREETING);
      expect(ofAgent.filter((text: string) => text === GREETING)).toHaveLength(1);
      expect(ofAgent.at(-1)).toBe("Thank you, goodbye.");
    } finally {
      model.always(null);
    }
  },
  2 * WITHIN_MS,
);

/** An agent that asks a person first, whose phone behaves like this. */
async function askingFirst(number: string, person: object, given: object = {}): Promise<string> {
  await carrier.setPhone(number, { say: [], hang_up_after_ms: 600_000, ...person });
  model.always((exchange) => {
    const asked = JSON.stringify(exchange.request.body.messages);
    if (asked.includes("have called a colleague")) exchange.text("A caller asks for you. Press 1 to take the call.");
    else if (asked.includes("Do they agree to take the call?")) exchange.text("unclear");
    else if (asked.includes("declined")) exchange.text("Nobody is free.");
    else {
      exchange.text("One moment, please.");
      exchange.toolCall("transfer_call", {});
    }
    exchange.finish();
  });
  const transfer = { transfer_phone_number: number, mode: "warm", briefing: "Say who calls.", hold_sound: "none" };
  return createAgent(api, model, { ...speech.settings, tools: { transfer_call: transfer }, ...given });
}

/** A call of such an agent. */
async function askedFirst(from: string, to: string, person: object) {
  const number = to.replace("+1202555", "+1202556");
  const agent_id = await askingFirst(number, person, { first_message_prompt: "Hello, this is Acme." });
  return { number, ...(await called(to, from, { hang_up_after_ms: 600_000 }, { agent_id })) };
}

async function accepted(): Promise<number> {
  const counted = /parley_calls_warm_transfers\w*\{[^}]*outcome="accepted"[^}]*\} (\d+)/;
  return Number(counted.exec(await stack.metrics("voice"))?.[1] ?? 0);
}

test.each(CARRIERS)(
  "a call over %s is connected with a person who is called over it too and takes the call, and ends for both",
  async (_, from, phones) => {
    const before = await accepted();
    try {
      const { id, number, conversationId } = await askedFirst(from, `${phones}5`, { keys: "1" });
      await eventually(async () => expect(await accepted()).toBe(before + 1), WITHIN_MS);
      expect(await atCarrier(number)).toMatchObject([{ rings: 1, from, status: "in-progress" }]);
      expect((await api.post(`/calls/${id}/hangup`, {})).status).toBe(200);
      expect(await until(id, "ENDED")).toMatchObject({ outcome: "SUCCESS", notes: `Connected to ${number}` });
      await eventually(async () => expect(await atCarrier(number)).toMatchObject([{ status: "completed" }]), WITHIN_MS);
      expect(await ended(conversationId, "COMPLETED")).toMatchObject({ notes: `Connected to ${number}` });
      await transferred(conversationId, number, "warm");
    } finally {
      model.always(null);
    }
  },
  2 * WITHIN_MS,
);

test(
  "in a call without a number, a person is called from the agent's first one, and what is said afterwards is in the transcript",
  async () => {
    const calls = await accepted();
    const number = "+12025560327";
    const agentId = await askingFirst(number, { keys: "1" }, { agent_mobile_number: [ANOTHER] });
    const { sip_address: sip = "" } = findProcess(stack.home, "voice");
    const sentence = await phoneSentence(stack, "A person, please.");
    const caller = await startCaller(sip, agentId);
    const conversation = async () => (await api.get(`/conversations?agent_id=${agentId}`)).body.data[0];
    try {
      caller.say(sentence);
      await eventually(async () => expect(await accepted()).toBe(calls + 1), WITHIN_MS);
      expect(await atCarrier(number)).toMatchObject([{ from: ANOTHER, status: "in-progress" }]);
      const before = (await conversation()).conversation_transcript.length;
      caller.say(sentence);
      await eventually(async () => {
        const added = (await conversation()).conversation_transcript.slice(before);
        expect(added.map(({ role }: { role: string }) => role)).toContain("user");
        expect(added.map(({ role }: { role: string }) => role)).not.toContain("assistant");
      }, WITHIN_MS);
      await caller.hangUp();
      await eventually(async () => {
        const over = { conversation_type: "WEB", conversation_status: "COMPLETED" };
        expect(await conversation()).toMatchObject(over);
        expect(await atCarrier(number)).toMatchObject([{ status: "completed" }]);
      }, WITHIN_MS);
    } finally {
      caller.close();
      model.always(null);
    }
  },
  2 * WITHIN_MS,
);

test(
  "an agent talks with its caller again when the number of the person whom it calls over Plivo is busy",
  async () => {
    try {
      const { id, number, conversationId } = await askedFirst(PLIVO, "+12025550316", { outcome: "busy" });
      await eventually(async () => {
        const { body } = await api.get(`/conversations/${conversationId}`);
        expect(JSON.stringify(body.conversation_transcript)).toContain("Nobody is free.");
      }, WITHIN_MS);
      expect(await atCarrier(number)).toMatchObject([{ rings: 1, status: "busy" }]);
      await api.post(`/calls/${id}/hangup`, {});
      expect(await until(id, "ENDED")).toMatchObject({ outcome: "SUCCESS", notes: null });
    } finally {
      model.always(null);
    }
  },
  2 * WITHIN_MS,
);

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
