import { afterAll, expect, test } from "bun:test";
import type { ControlConversationRequest } from "@parley/proto/parley/conversation/v1/live.ts";
import { type CommandCallRequest, VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { silentLogger } from "@parley/shared/log";
import type { Actor } from "@parley/shared/rpc/actor";
import { serve } from "@parley/shared/rpc/server";
import { eventually } from "@parley/testkit/eventually";
import { startCall } from "./calls-kit.ts";
import { createAgent, failure, hear, listen, say, startTestChat, transcript, turn } from "./kit.ts";
import { watch } from "./live-kit.ts";

let commands: CommandCallRequest["command"][] = [];
const voice = await serve(
  VoiceServiceService,
  {
    commandCall: async ({ command }) => {
      commands.push(command);
      return { answer: "" };
    },
  },
  { address: "127.0.0.1:0", log: silentLogger },
);
const service = await startTestChat({
  PARLEY_TAKE_OVER_IDLE_MINUTES: "0.5",
  PARLEY_VOICE_ADDRESS: voice.address,
});
const { chat, model, clock, sql } = service;
const agent = await createAgent(service);
afterAll(async () => {
  await service.stop();
  await voice.stop();
});

const ADA: Actor = { kind: "session", id: "ses_ada" };
const BOB: Actor = { kind: "key", id: "key_bob" };

type Action = NonNullable<ControlConversationRequest["action"]>;

const control = (conversationId: string, action: Action, actor = ADA) =>
  chat.controlConversation(
    { ownerId: agent.ownerId, conversationId, action },
    { origin: { requestId: "control", actor } },
  );
const begin = async () => (await say(service, agent, "One")).sessionId;
const lines = (sessionId: string) => transcript(service, agent, sessionId);
const takeOver = (sessionId: string, actor = ADA) => control(sessionId, { $case: "takeOver", value: true }, actor);

test("what an operator says is a message of the agent's, marked as the operator's, and the next reply knows it", async () => {
  const sessionId = await begin();
  await control(sessionId, { $case: "say", value: "A colleague here: it is free." });
  await say(service, agent, "Thanks", sessionId);
  const { session } = await chat.getChatSession({ ownerId: agent.ownerId, sessionId });
  expect(session?.messages.map(({ content, byOperator }) => [content, byOperator])).toEqual([
    ["One", undefined],
    ["Hello there.", undefined],
    ["A colleague here: it is free.", true],
    ["Thanks", undefined],
    ["Hello there.", undefined],
  ]);
  expect(JSON.stringify(model.calls.at(-1)?.body)).toContain("it is free");
});

test("the model knows what an operator injects from its next turn on, and no transcript shows it", async () => {
  const sessionId = await begin();
  await control(sessionId, { $case: "inject", value: "The caller is a VIP." });
  for (const message of ["Two", "Three"]) {
    await say(service, agent, message, sessionId);
    expect(JSON.stringify(model.calls.at(-1)?.body)).toContain("The caller is a VIP.");
  }
  expect((await lines(sessionId)).join()).not.toContain("VIP");
});

test("while an agent is muted, messages are stored and the model is not asked", async () => {
  const sessionId = await begin();
  await control(sessionId, { $case: "mute", value: true });
  const asked = model.calls.length;
  expect(await say(service, agent, "Two", sessionId)).toMatchObject({ response: "", isOperators: true });
  expect((await hear(chat, turn(agent, "Three", { sessionId }))).chunks).toEqual([]);
  expect(model.calls.length).toBe(asked);
  await control(sessionId, { $case: "mute", value: false });
  expect(await say(service, agent, "Four", sessionId)).toMatchObject({ response: "Hello there." });
  expect((await lines(sessionId)).slice(2)).toEqual([
    "user: Two",
    "user: Three",
    "user: Four",
    "assistant: Hello there.",
  ]);
});

test("a second operator is refused with the first one's name, and one's own take-over again is not", async () => {
  const sessionId = await begin();
  await takeOver(sessionId);
  const { operator } = await takeOver(sessionId);
  expect(operator?.takenOver?.by).toBe("session:ses_ada");
  const refused = await failure(takeOver(sessionId, BOB));
  expect(refused.kind).toBe("conflict");
  expect(refused.detail).toContain("The session ses_ada has taken this conversation over");
  await control(sessionId, { $case: "takeOver", value: false });
  expect((await takeOver(sessionId, BOB)).operator?.takenOver?.by).toBe("key:key_bob");
});

test("a take-over stops the reply that is being written, and keeps what was written", async () => {
  const sessionId = await begin();
  const left = Promise.withResolvers<void>();
  model.script = async (call) => {
    call.piece("We open at nine, ");
    await call.left;
    left.resolve();
  };
  const heard: string[] = [];
  const reading = (async () => {
    for await (const { text } of listen(chat, turn(agent, "When?", { sessionId }))) if (text) heard.push(text);
  })();
  await eventually(() => expect(heard.length).toBe(1));
  await takeOver(sessionId);
  await Promise.all([reading, left.promise]);
  model.script = (call) => call.finish("Hello there.");
  expect((await lines(sessionId)).at(-1)).toStartWith("assistant: We open at");
  await control(sessionId, { $case: "say", value: "At nine." });
  expect((await lines(sessionId)).at(-1)).toBe("assistant: At nine.");
});

test("a conversation goes back to its agent when nobody has written for the idle time, which any message resets", async () => {
  const sessionId = await begin();
  await takeOver(sessionId);
  clock.advance(20_000);
  expect((await say(service, agent, "Two", sessionId)).isOperators).toBe(true);
  clock.advance(20_000);
  await control(sessionId, { $case: "say", value: "Yes?" });
  clock.advance(20_000);
  expect((await say(service, agent, "Three", sessionId)).isOperators).toBe(true);
  clock.advance(31_000);
  expect((await say(service, agent, "Four", sessionId)).response).toBe("Hello there.");
});

test("watchers are told who has taken a conversation over, and that it went back by itself", async () => {
  const sessionId = await begin();
  const watcher = watch(chat, agent, sessionId);
  await eventually(() => expect(watcher.short()).toContain("snapshot"));
  await takeOver(sessionId);
  const states = () =>
    watcher.told.flatMap(({ event }) =>
      event?.$case === "state" ? [event.value.operator?.takenOver?.by ?? "nobody"] : [],
    );
  await eventually(() => expect(states()).toEqual(["session:ses_ada"]));
  clock.advance(31_000);
  await sql`update jobs set due_at = now() - interval '1 year' where job_id = 'give-back-idle'`;
  await eventually(() => expect(states()).toEqual(["session:ses_ada", "nobody"]));
  await watcher.leave();
});

test("a repeated request with an idempotency key gets the same empty answer of an operator", async () => {
  const sessionId = await begin();
  await takeOver(sessionId);
  const asked = turn(agent, "Two", {
    sessionId,
    idempotency: { key: Bun.randomUUIDv7(), fingerprint: Buffer.from("x") },
  });
  expect(await chat.completeTurn({ turn: asked })).toMatchObject({ response: "", isOperators: true, replayed: false });
  expect(await chat.completeTurn({ turn: asked })).toMatchObject({ response: "", isOperators: true, replayed: true });
  expect((await lines(sessionId)).filter((line) => line === "user: Two")).toHaveLength(1);
});

test("an operator hands a chat over to another agent, which answers the next message", async () => {
  const sessionId = await begin();
  const second = await createAgent(
    service,
    { agentName: "Second", prompt: { source: { $case: "content", value: "You are the second." } } },
    agent.ownerId,
  );
  await control(sessionId, { $case: "handoff", value: second.agentId });
  await say(service, agent, "Two", sessionId);
  expect(JSON.stringify(model.calls.at(-1)?.body)).toContain("You are the second.");
});

test("an operator ends a chat with last words, after which nothing can be done with it", async () => {
  const sessionId = await begin();
  await control(sessionId, { $case: "end", value: { message: "Goodbye." } });
  expect((await lines(sessionId)).at(-1)).toBe("assistant: Goodbye.");
  expect((await failure(say(service, agent, "Two", sessionId))).detail).toBe("Session has ended");
  expect((await failure(control(sessionId, { $case: "say", value: "Still?" }))).kind).toBe("conflict");
  expect((await failure(control(await begin(), { $case: "transfer", value: "+14155550123" }))).kind).toBe("condition");
});

test("what is injected into a call reaches the process that holds it only if its agent has a speech-to-speech model", async () => {
  const sts = { providerName: "OPENAI", modelName: "gpt-realtime" } as never;
  for (const given of [{}, { sts }]) {
    commands = [];
    const { conversationId } = await startCall(chat, await createAgent(service, given, agent.ownerId));
    await control(conversationId, { $case: "inject", value: "The caller is a VIP." });
    const told = "sts" in given ? [{ $case: "inject", value: "The caller is a VIP." }] : [];
    expect(commands).toEqual(told as typeof commands);
  }
});

test("a handoff of a call with a speech-to-speech model is refused with what to do instead", async () => {
  const sts = { providerName: "OPENAI", modelName: "gpt-realtime" } as never;
  const { conversationId } = await startCall(chat, await createAgent(service, { sts }, agent.ownerId));
  const refused = await failure(control(conversationId, { $case: "handoff", value: agent.agentId }));
  expect(refused).toMatchObject({ kind: "condition", detail: expect.stringContaining("Inject that it should") });
});
