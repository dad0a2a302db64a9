import { afterAll, afterEach, expect, test } from "bun:test";
import { startFailure } from "@parley/shared/domain/start-webhook";
import { ServiceError } from "@parley/shared/errors";
import { eventually } from "@parley/testkit/eventually";
import { newOwner } from "@parley/testkit/owners";
import { echo } from "./fakes.ts";
import { person, startTestWhatsApp } from "./kit.ts";

const service = await startTestWhatsApp();
afterEach(() => service.reset());
afterAll(() => service.stop());

test("messages that arrive within two seconds are one turn, whose reply is sent and whose delivery is stored", async () => {
  const [number, from] = [service.connect(), person()];
  await service.write(number, from, "Hello");
  service.clock.advance(1_500);
  await service.write(number, from, "Where is my order?");
  service.clock.advance(1_500);
  expect(service.turnsOf(number)).toEqual([]);
  service.clock.advance(500);
  expect(await service.texts(from, 1)).toEqual(["You said: Hello\nWhere is my order?"]);
  await eventually(() => expect(service.delivered(number)).toBe("read"));
  expect(service.conversationsOf(number)).toMatchObject([
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

test("a person's messages stay in one conversation until it ends, and then start a new one", async () => {
  const [number, from] = [service.connect(), person()];
  const say = async (text: string, count: number) => {
    await service.write(number, from, text);
    service.quiet();
    await service.texts(from, count);
  };
  await say("one", 1);
  await say("two", 2);
  expect(service.conversationsOf(number)).toHaveLength(1);
  service.fakes.conversations.ended.add(service.conversationsOf(number)[0]?.conversationId ?? "");
  await say("three", 3);
  expect(service.conversationsOf(number)).toHaveLength(2);
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
  expect(service.conversationsOf(number)).toHaveLength(2);
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
  await eventually(() => expect(service.turnsOf(number)).toEqual(["first"]));
  await service.write(number, from, "second");
  service.quiet();
  goOn();
  expect(await service.texts(from, 2)).toEqual(["You said: first", "You said: second"]);
});

test("a turn whose model is unavailable is retried; a refused one is given up, and the next one is not", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = (turn) => {
    service.fakes.conversations.reply = echo;
    throw new ServiceError("upstream_failed", `no model for ${turn.message}`);
  };
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(() => expect(service.turnsOf(number)).toHaveLength(1));
  await eventually(async () => expect(await service.turnDueInSeconds(number)).toBe(10));
  await service.pass(10_000);
  expect(await service.texts(from, 1)).toEqual(["You said: Hi"]);
  service.fakes.conversations.reply = () => {
    service.fakes.conversations.reply = echo;
    throw new ServiceError("condition", "Agent has no LLM configuration: set llm");
  };
  await service.write(number, from, "Lost");
  service.quiet();
  await eventually(() => expect(service.turnsOf(number).at(-1)).toBe("Lost"));
  await service.write(number, from, "Found");
  service.quiet();
  expect((await service.texts(from, 2)).at(-1)).toBe("You said: Found");
});

test("a turn whose start webhook lets no conversation begin is given up at once, and the next one is not", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = () => {
    service.fakes.conversations.reply = echo;
    throw startFailure("The agent's start webhook failed", "");
  };
  await service.write(number, from, "Lost");
  service.quiet();
  await eventually(() => expect(service.turnsOf(number)).toEqual(["Lost"]));
  await service.write(number, from, "Found");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Found"]);
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
  expect(service.turnsOf(number)).toEqual(["Hi", "Hi"]);
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

test("the agent that has the number answers when the connection names none; without one the messages are dropped", async () => {
  const [number, from] = [service.connect({ agentId: "" }), person()];
  await service.write(number, from, "Anybody?");
  service.quiet();
  await eventually(async () => expect(await service.waiting(number)).toBe(0));
  expect(service.turnsOf(number)).toEqual([]);
  service.fakes.callees.set(number.mobileNumber, [{ ownerId: number.ownerId, agentId: "agt_callee" }]);
  await service.write(number, from, "Hello?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello?"]);
  expect(service.conversationsOf(number)[0]?.agentId).toBe("agt_callee");
});

test("the agent that has the number answers, whoever else's agents have it too", async () => {
  const [number, from] = [service.connect({ agentId: "" }), person()];
  service.fakes.callees.set(number.mobileNumber, [
    { ownerId: newOwner(), agentId: "agt_stranger" },
    { ownerId: number.ownerId, agentId: "agt_callee" },
  ]);
  await service.write(number, from, "Hello?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello?"]);
  expect(service.conversationsOf(number)[0]?.agentId).toBe("agt_callee");
});

test("messages to a number whose agent was deleted are dropped, and the next agent answers later ones", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.goneAgents.add(number.agentId);
  await service.write(number, from, "Anybody?");
  service.quiet();
  await eventually(async () => expect(await service.waiting(number)).toBe(0));
  service.fakes.goneAgents.delete(number.agentId);
  await service.write(number, from, "Hello?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello?"]);
});
