import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/shared/testing/eventually";
import { serviceErrorOf } from "@parley/shared/testing/failures";
import { type Connected, startTestWhatsApp, type TestWhatsApp } from "./whatsapp-kit.ts";

let service: TestWhatsApp;
const echo = ({ message }: { message: string }) => `You said: ${message}`;

beforeAll(async () => {
  service = await startTestWhatsApp();
});
afterAll(() => service.stop());
afterEach(() => {
  service.fakes.conversations.reply = echo;
  service.fakes.whatsapp = undefined;
  service.fakes.goneAgents.clear();
  service.meta.statuses = ["sent", "delivered", "read"];
});

let persons = 0;
const person = () => `4917${String(10_000_000 + ++persons)}`;

const turnsOf = ({ ownerId }: Connected) =>
  service.fakes.conversations.turns.filter((turn) => turn.ownerId === ownerId).map(({ message }) => message);
const conversationsOf = ({ ownerId }: Connected) =>
  [...service.fakes.conversations.started.values()].filter((request) => request.ownerId === ownerId);
/** The state of the only item with this sequence in the owner's only conversation. */
const delivered = (number: Connected, sequence = 2) =>
  service.fakes.conversations.deliveries.get(`${conversationsOf(number)[0]?.conversationId} ${sequence}`);

test("messages that arrive within two seconds are one turn, whose reply is sent and whose delivery is stored", async () => {
  const [number, from] = [service.connect(), person()];
  await service.write(number, from, "Hello");
  service.clock.advance(1_500);
  await service.write(number, from, "Where is my order?");
  service.clock.advance(1_500);
  expect(turnsOf(number)).toEqual([]);
  service.clock.advance(500);
  expect(await service.texts(from, 1)).toEqual(["You said: Hello\nWhere is my order?"]);
  await eventually(() => expect(delivered(number)).toBe("read"));
  expect(conversationsOf(number)).toMatchObject([
    { type: 3, agentId: number.agentId, fromMobileNumber: `+${from}`, toMobileNumber: number.mobileNumber },
  ]);
});

test("a person who never pauses gets an answer after ten seconds", async () => {
  const [number, from] = [service.connect(), person()];
  for (let at = 0; at < 8; at++) {
    await service.write(number, from, `part ${at}`);
    service.clock.advance(1_500);
  }
  expect(await service.texts(from, 1)).toHaveLength(1);
});

test("a message that WhatsApp sends twice, or in two callbacks at once, is processed once", async () => {
  const [number, from] = [service.connect(), person()];
  const twice = () => service.write(number, from, "Once", "wamid.once");
  await Promise.all([twice(), twice(), twice()]);
  service.quiet();
  await service.texts(from, 1);
  await twice();
  service.quiet();
  await service.write(number, from, "Next");
  service.quiet();
  expect(await service.texts(from, 2)).toEqual(["You said: Once", "You said: Next"]);
});

test("a person's messages stay in one conversation until it ends, and then start a new one", async () => {
  const [number, from] = [service.connect(), person()];
  const say = async (text: string, count: number) => {
    await service.write(number, from, text);
    service.quiet();
    await service.texts(from, count);
  };
  await say("one", 1);
  await say("two", 2);
  expect(conversationsOf(number)).toHaveLength(1);
  service.fakes.conversations.ended.add(conversationsOf(number)[0]?.conversationId ?? "");
  await say("three", 3);
  expect(conversationsOf(number)).toHaveLength(2);
});

test("a conversation that ends while a turn is on its way does not swallow the message", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = (turn) => {
    service.fakes.conversations.reply = echo;
    service.fakes.conversations.ended.add(turn.sessionId ?? "");
    throw new ServiceError("condition", "Session has ended");
  };
  await service.write(number, from, "Still there?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Still there?"]);
  expect(conversationsOf(number)).toHaveLength(2);
});

test("messages that arrive during a turn become the next turn, and replies are sent in order", async () => {
  const [number, from] = [service.connect(), person()];
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>();
  service.fakes.conversations.reply = async (turn) => {
    await mayGoOn;
    return echo(turn);
  };
  await service.write(number, from, "first");
  service.quiet();
  await eventually(() => expect(turnsOf(number)).toEqual(["first"]));
  await service.write(number, from, "second");
  service.quiet();
  goOn();
  expect(await service.texts(from, 2)).toEqual(["You said: first", "You said: second"]);
});

test("a reply that is too long for one message is sent in parts, and is delivered when all of them are", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = () => `${"word ".repeat(1_000)}\n\n${"more ".repeat(500)}`;
  await service.write(number, from, "Tell me everything");
  service.quiet();
  const texts = await service.texts(from, 2);
  expect(texts.every((text) => text.length <= 4_096)).toBeTrue();
  expect(texts.join(" ").match(/word|more/g)).toHaveLength(1_500);
  await eventually(() => expect(delivered(number)).toBe("read"));
});

test("a voice message is transcribed, and answered with a voice message if the agent is set to", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.whatsapp = { voice_replies: true };
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  await service.texts(from, 1);
  const [answer] = service.meta.sent.filter(({ to }) => to === from);
  expect(answer?.type).toBe("audio");
  expect(Buffer.from(answer?.audio ?? []).toString()).toBe("spoken You said: the words");
  await service.write(number, from, "In writing, please");
  service.quiet();
  expect((await service.texts(from, 2)).at(-1)).toBe("You said: In writing, please");
});

test("a reply that cannot be spoken is sent as text", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.whatsapp = { voice_replies: true };
  const { speak } = service.fakes.speech;
  service.fakes.speech.speak = () => {
    throw new ServiceError("condition", "Agent has no TTS configuration: set tts");
  };
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: the words"]);
  service.fakes.speech.speak = speak;
});

test("a voice message that cannot be transcribed is announced to the agent, immediately or when its provider stays down", async () => {
  const [number, from] = [service.connect(), person()];
  const { transcribe } = service.fakes.speech;
  service.fakes.speech.transcribe = () => {
    throw new ServiceError("condition", "Agent has no STT configuration: set stt");
  };
  const note = () => service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  await note();
  service.quiet();
  const unheard = "You said: [a voice message that could not be transcribed]";
  expect(await service.texts(from, 1)).toEqual([unheard]);
  let attempts = 0;
  service.fakes.speech.transcribe = () => {
    attempts++;
    throw new ServiceError("upstream_failed", "DEEPGRAM does not work");
  };
  await note();
  service.quiet();
  // Two, if the first one began before the service was quiet.
  await eventually(() => expect(attempts).toBeGreaterThan(0));
  await service.pass(3 * 60_000);
  expect(await service.texts(from, 2)).toEqual([unheard, unheard]);
  service.fakes.speech.transcribe = transcribe;
});

test("a message that WhatsApp refuses temporarily is sent later, and only once", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.failNext({ status: 429, code: 130_429 }, { status: 400, code: 131_056 }, { status: 500 });
  await service.write(number, from, "Hi");
  service.quiet();
  for (const seconds of [10, 20, 40]) {
    await eventually(async () => expect(await dueInSeconds(number)).toBe(seconds));
    await service.pass(seconds * 1_000);
  }
  expect(await service.texts(from, 1)).toEqual(["You said: Hi"]);
  await eventually(() => expect(delivered(number)).toBe("read"));
});

test("a message whose response was lost is not sent again once its status arrives", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.failNext({ status: 500, takes: true });
  await service.write(number, from, "Hi");
  service.quiet();
  await service.texts(from, 1);
  await eventually(() => expect(delivered(number)).toBe("read"));
  await service.pass(60_000);
  await service.write(number, from, "And?");
  service.quiet();
  expect(await service.texts(from, 2)).toEqual(["You said: Hi", "You said: And?"]);
});

test("a message that WhatsApp refuses permanently is marked with its code, and later ones are sent", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.failNext({ status: 400, code: 131_047 });
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(() => expect(delivered(number)).toBe("failed 131047"));
  await service.write(number, from, "Hello?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello?"]);
});

test("a message that is refused for ten minutes is given up and marked", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.failNext(...Array.from({ length: 6 }, () => ({ status: 503 })));
  await service.write(number, from, "Hi");
  service.quiet();
  for (const seconds of [10, 20, 40, 80, 160]) {
    await eventually(async () => expect(await dueInSeconds(number)).toBe(seconds));
    await service.pass(seconds * 1_000);
  }
  await eventually(async () => expect(await dueInSeconds(number)).toBe(290));
  await service.pass(290_000);
  await eventually(() => expect(delivered(number)).toBe("failed unavailable"));
});

test("a delivery that fails on the person's side is stored with its code", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.statuses = ["sent", { failed: 131_026 }, "sent"];
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(() => expect(delivered(number)).toBe("failed 131026"));
});

test("a failure that comes in one callback with an earlier status is stored", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.statuses = [];
  await service.write(number, from, "Hi");
  service.quiet();
  await service.texts(from, 1);
  const id = service.meta.sent.find(({ to }) => to === from)?.wamid;
  const statuses = [
    { id, status: "failed", errors: [{ code: 131_026 }] },
    { id, status: "sent" },
  ];
  expect((await callBack(number, [{ number, statuses }])).status).toBe(200);
  await eventually(() => expect(delivered(number)).toBe("failed 131026"));
});

test("a callback for thousands of numbers has them looked up once, and the owner's others get their messages", async () => {
  const [number, from] = [service.connect(), person()];
  const second = service.connect({ ownerId: number.ownerId });
  const before = service.fakes.carrierLists;
  const strangers = Array.from({ length: 300 }, (_, at) => ({
    number: { phoneNumberId: `9${at}` },
    statuses: [{ id: `wamid.${at}`, status: "sent" }],
  }));
  const messages = [{ from, id: "wamid.second", type: "text", text: { body: "Hi" } }];
  expect((await callBack(number, [...strangers, { number: second, messages }])).status).toBe(200);
  expect(service.fakes.carrierLists - before).toBe(1);
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hi"]);
});

/** Has Meta call back with what concerns these numbers. */
function callBack(
  { phoneNumberId }: Connected,
  news: readonly { number: { phoneNumberId: string }; [field: string]: unknown }[],
) {
  const changes = news.map(({ number, ...value }) => {
    return { field: "messages", value: { metadata: { phone_number_id: number.phoneNumberId }, ...value } };
  });
  return service.meta.call(phoneNumberId, JSON.stringify({ entry: [{ changes }] }));
}

test("a turn whose model is unavailable is retried; a refused one is given up, and the next one is not", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = (turn) => {
    service.fakes.conversations.reply = echo;
    throw new ServiceError("upstream_failed", `no model for ${turn.message}`);
  };
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(() => expect(turnsOf(number)).toHaveLength(1));
  await eventually(async () => expect(await turnDueInSeconds(number)).toBe(10));
  await service.pass(10_000);
  expect(await service.texts(from, 1)).toEqual(["You said: Hi"]);
  service.fakes.conversations.reply = () => {
    service.fakes.conversations.reply = echo;
    throw new ServiceError("condition", "Agent has no LLM configuration");
  };
  await service.write(number, from, "Lost");
  service.quiet();
  await eventually(() => expect(turnsOf(number).at(-1)).toBe("Lost"));
  await service.write(number, from, "Found");
  service.quiet();
  expect((await service.texts(from, 2)).at(-1)).toBe("You said: Found");
});

test("when a process stops in the middle of a turn, another one continues it and the person gets one reply", async () => {
  const [number, from] = [service.connect(), person()];
  let asked = 0;
  service.fakes.conversations.reply = async (turn, signal) => {
    if (++asked > 1) return echo(turn);
    const { promise, reject } = Promise.withResolvers<never>();
    signal.addEventListener("abort", () => reject(new ServiceError("cancelled", "gone")), { once: true });
    return promise;
  };
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(() => expect(asked).toBe(1));
  await service.replaceProcess();
  // Until another process may take the thread that the stopped one handed over.
  service.clock.advance(1_000);
  expect(await service.texts(from, 1)).toEqual(["You said: Hi"]);
  expect(turnsOf(number)).toEqual(["Hi", "Hi"]);
});

test("the agent that has the number answers when the connection names none; without one the messages are dropped", async () => {
  const [number, from] = [service.connect({ agentId: "" }), person()];
  await service.write(number, from, "Anybody?");
  service.quiet();
  await eventually(async () => expect(await waiting(number)).toBe(0));
  expect(turnsOf(number)).toEqual([]);
  service.fakes.callees.set(number.mobileNumber, { ownerId: number.ownerId, agentId: "agt_callee" });
  await service.write(number, from, "Hello?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello?"]);
  expect(conversationsOf(number)[0]?.agentId).toBe("agt_callee");
});

test("messages to a number whose agent was deleted are dropped, and the next agent answers later ones", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.goneAgents.add(number.agentId);
  await service.write(number, from, "Anybody?");
  service.quiet();
  await eventually(async () => expect(await waiting(number)).toBe(0));
  service.fakes.goneAgents.delete(number.agentId);
  await service.write(number, from, "Hello?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello?"]);
});

test("the reply of an agent that is deleted during its turn is sent as text", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.whatsapp = { voice_replies: true };
  service.fakes.conversations.reply = (turn) => {
    service.fakes.goneAgents.add(turn.agentId);
    return echo(turn);
  };
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: the words"]);
});

test("a blank reply to a voice message is not sent", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.whatsapp = { voice_replies: true };
  service.fakes.conversations.reply = () => "\n";
  await service.meta.write(number.phoneNumberId, from, { audio: Buffer.from("a note") });
  service.quiet();
  await eventually(() => expect(turnsOf(number)).toHaveLength(1));
  service.fakes.conversations.reply = echo;
  await service.write(number, from, "Hello?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello?"]);
});

test("a message that is stored while a turn begins is not lost, even if its place is before that turn's", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.starting = async () => {
    service.fakes.conversations.starting = () => {};
    // As by a transaction that began before the other message's and ended after it.
    await service.sql`
      insert into incoming_messages (owner_id, carrier_id, message_id, contact, position, content, received_at)
      overriding system value
      values (${number.ownerId}, ${number.carrierId}, 'wamid.slow', ${from}, 0, '{"type":"text","text":"slow"}',
        ${service.clock.now()})`;
  };
  await service.write(number, from, "quick");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: quick"]);
  service.quiet();
  expect(await service.texts(from, 2)).toEqual(["You said: quick", "You said: slow"]);
});

test("a disconnected number sends nothing more", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = (turn) => {
    const { carriers } = service.fakes;
    carriers.splice(
      carriers.findIndex(({ carrierId }) => carrierId === number.carrierId),
      1,
    );
    return echo(turn);
  };
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(() => expect(delivered(number)).toBe("failed disconnected"));
  expect(service.meta.sent.filter(({ to }) => to === from)).toEqual([]);
});

test("a template starts a conversation, and the person's answer belongs to it", async () => {
  const [number, to] = [service.connect(), person()];
  const components = [
    {
      type: "body",
      parameters: [
        { type: "text", text: "Ada" },
        { type: "text", text: "12345" },
      ],
    },
  ];
  const template = { name: "order_update", language: "en_US", components };
  const { ownerId, agentId } = number;
  const idempotency = { key: newUuid(), fingerprint: Buffer.alloc(32, 1) };
  const request = { ownerId, agentId, toMobileNumber: `+${to}`, template, idempotency };
  const sent = await service.messaging.sendWhatsAppTemplate(request);
  expect(await service.messaging.sendWhatsAppTemplate(request)).toEqual(sent);
  expect(await service.texts(to, 1)).toEqual(["order_update"]);
  const { said } = service.fakes.conversations;
  expect(said.get(sent.conversationId)).toEqual(["[template order_update (en_US): Ada, 12345]"]);
  await eventually(() => expect(delivered(number, 1)).toBe("read"));
  await service.write(number, to, "Thanks");
  service.quiet();
  await service.texts(to, 2);
  expect(conversationsOf(number)).toHaveLength(1);
  expect(said.get(sent.conversationId)).toHaveLength(3);
});

test("a template waits for the turn in progress, which stays in its own conversation", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = () => {
    service.fakes.conversations.reply = echo;
    throw new ServiceError("upstream_failed", "no model");
  };
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(async () => expect(await turnDueInSeconds(number)).toBe(10));
  const { ownerId, agentId } = number;
  const template = { name: "hello", language: "en", components: [] };
  const request = { ownerId, agentId, toMobileNumber: `+${from}`, template, idempotency: undefined };
  const { conversationId } = await service.messaging.sendWhatsAppTemplate(request);
  await service.pass(10_000);
  expect((await service.texts(from, 2)).toSorted()).toEqual(["You said: Hi", "hello"]);
  const sessions = service.fakes.conversations.turns.filter((turn) => turn.ownerId === ownerId);
  expect(new Set(sessions.map(({ sessionId }) => sessionId)).size).toBe(1);
  expect(sessions[0]?.sessionId).not.toBe(conversationId);
  expect(conversationsOf(number)).toHaveLength(2);
});

test.each([
  ["a number that is none", { toMobileNumber: "415" }, "invalid"],
  ["a template without a name", { template: { name: "", language: "en", components: [] } }, "invalid"],
  [
    "a template with a name that Meta does not allow",
    { template: { name: "A b", language: "en", components: [] } },
    "invalid",
  ],
  ["another owner's agent", { agentId: "agt_foreign" }, "forbidden"],
  ["an agent without a number", { agentId: "agt_numberless" }, "condition"],
] as const)("a template to %s is refused and leaves nothing", async (_title, given, kind) => {
  const number = service.connect();
  const { ownerId, agentId } = number;
  const template = { name: "hello", language: "en", components: [] };
  const request = { ownerId, agentId, toMobileNumber: "+4917012345678", template, idempotency: undefined };
  const refusal = serviceErrorOf(service.messaging.sendWhatsAppTemplate({ ...request, ...given } as typeof request));
  expect(await refusal).toMatchObject({ kind });
  const rows = await service.sql`select from outgoing_messages where owner_id = ${ownerId}`;
  expect(rows).toHaveLength(0);
});

async function dueInSeconds({ ownerId }: Connected): Promise<number> {
  const [row] = await service.sql<{ dueAt: Date }[]>`
    select due_at as "dueAt" from outgoing_messages
    where owner_id = ${ownerId} and state = 'waiting' and attempts > 0`;
  return row ? (row.dueAt.getTime() - service.clock.now().getTime()) / 1_000 : -1;
}

async function turnDueInSeconds({ ownerId }: Connected): Promise<number> {
  const [row] = await service.sql<{ dueAt: Date | null }[]>`
    select turn_due_at as "dueAt" from threads where owner_id = ${ownerId}`;
  return row?.dueAt ? (row.dueAt.getTime() - service.clock.now().getTime()) / 1_000 : -1;
}

async function waiting({ ownerId }: Connected): Promise<number> {
  const rows = await service.sql`
    select from incoming_messages where owner_id = ${ownerId} and content is not null`;
  return rows.length;
}

test("an owner whose callbacks bring too much at once has some refused, and another owner's message is taken", async () => {
  const [flooding, other, from] = [service.connect(), service.connect(), person()];
  const reports = (round: number) => {
    const statuses = Array.from({ length: 2_000 }, (_, at) => ({ id: `wamid.${round}.${at}`, status: "sent" }));
    const value = { metadata: { phone_number_id: flooding.phoneNumberId }, statuses };
    const body = Buffer.from(JSON.stringify({ entry: [{ changes: [{ field: "messages", value }] }] }));
    const signature = `sha256=${createHmac("sha256", flooding.appSecret).update(body).digest("hex")}`;
    return service.messaging.handleWhatsAppCallback({ carrierId: flooding.carrierId, body, signature });
  };
  const asked = Promise.allSettled(Array.from({ length: 12 }, (_, round) => reports(round)));
  await service.write(other, from, "Hello");
  const answers = await asked;
  const refused = answers
    .filter(({ status }) => status === "rejected")
    .map((answer) => (answer as PromiseRejectedResult).reason);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(12);
  const detail = "This account has too many WhatsApp messages and statuses at once, try again";
  for (const error of refused) expect(error).toMatchObject({ kind: "rate_limited", detail });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello"]);
});

test("a deleted owner's messages are deleted and nothing more is sent to its people; another owner's are", async () => {
  const [gone, other, from] = [service.connect(), service.connect(), person()];
  const elsewhere = person();
  await service.write(gone, from, "Hello");
  await service.write(other, elsewhere, "Hello");
  await service.messaging.forgetOwner({ ownerId: gone.ownerId });
  const left = async (ownerId: string) => {
    const [row] = await service.sql`
      select (select count(*) from incoming_messages where owner_id = ${ownerId})::integer as incoming,
        (select count(*) from threads where owner_id = ${ownerId})::integer as threads`;
    return row;
  };
  await eventually(async () => expect(await left(gone.ownerId)).toEqual({ incoming: 0, threads: 0 }));
  expect(await left(other.ownerId)).toEqual({ incoming: 1, threads: 1 });
  service.quiet();
  expect(await service.texts(elsewhere, 1)).toEqual(["You said: Hello"]);
  expect(service.meta.sent.filter(({ to }) => to === from)).toEqual([]);
});
