import { afterAll, beforeEach, expect, test } from "bun:test";
import type { Turn } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import type { ModelCall } from "@parley/testkit/scripted-model";
import { createAgent, failure, hear, leavable, listen, say, startTestChat, transcript, turn } from "./kit.ts";

/** With few connections, so that anything that needs two at once would deadlock here. */
const service = await startTestChat({ PARLEY_DATABASE_POOL: "3" });
const agent = await createAgent(service);

afterAll(() => service.stop());

beforeEach(() => {
  service.model.script = (call) => call.finish("Hello there.");
});

function keyed(message: string, given: Partial<Turn> = {}, fingerprint = 1): Turn {
  const idempotency = { key: newUuid(), fingerprint: Buffer.alloc(32, fingerprint) };
  return turn(agent, message, { idempotency, ...given });
}

const complete = (asked: Turn) => service.chat.completeTurn({ turn: asked });

async function modelCallsDuring(work: () => Promise<unknown>): Promise<number> {
  const before = service.model.calls.length;
  await work();
  return service.model.calls.length - before;
}

test("twenty concurrent requests with one key are one turn, and all get its answer", async () => {
  const asked = keyed("Once");
  let sessions: string[] = [];
  const calls = await modelCallsDuring(async () => {
    const whole = Array.from({ length: 10 }, () => complete(asked).then(({ sessionId }) => sessionId));
    const streamed = Array.from({ length: 10 }, async () => {
      const { sessionId, chunks } = await hear(service.chat, asked);
      expect(chunks.join("")).toBe("Hello there.");
      return sessionId;
    });
    sessions = await Promise.all([...whole, ...streamed]);
  });
  expect(calls).toBe(1);
  expect(new Set(sessions).size).toBe(1);
  expect(await transcript(service, agent, sessions[0] ?? "")).toEqual(["user: Once", "assistant: Hello there."]);
  const replayed = { sessionId: sessions[0] ?? "", response: "Hello there.", replayed: true, replySequence: 2 };
  expect(await complete(asked)).toEqual(replayed);
});

test("a reply that its model cut short is the answer of its key", async () => {
  service.model.script = (call) => {
    call.event({ choices: [{ delta: { content: "We open at" }, finish_reason: "length" }] });
    call.end();
  };
  const asked = keyed("When?");
  const calls = await modelCallsDuring(async () => {
    expect((await hear(service.chat, asked)).chunks.join("")).toBe("We open at");
    expect(await complete(asked)).toMatchObject({ response: "We open at", replayed: true });
  });
  expect(calls).toBe(1);
});

test("different keys are different turns, many concurrently over few connections", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, (_, at) => complete(keyed(`${at}`))));
  expect(new Set(answers.map(({ sessionId }) => sessionId)).size).toBe(40);
});

test("a key used with another request is refused; keys are per owner and free after a day", async () => {
  const asked = keyed("Hi");
  const { sessionId } = await complete(asked);
  const idempotency = { key: asked.idempotency?.key ?? "", fingerprint: Buffer.alloc(32, 2) };
  expect(await failure(complete({ ...asked, idempotency }))).toMatchObject({ kind: "invalid" });
  const stranger = await createAgent(service);
  await complete({ ...asked, ...stranger, idempotency });
  service.clock.advance(24 * 60 * 60 * 1000);
  const again = await complete({ ...asked, idempotency });
  expect(again.sessionId).not.toBe(sessionId);
  expect(again.replayed).toBe(false);
});

test("a refusal is replayed with its session and marked, even after its cause is gone", async () => {
  const { sessionId } = await say(service, agent, "Hi");
  await service.sql`update conversations set type = 'DAILY' where conversation_id = ${sessionId}`;
  const asked = keyed("Wait", { sessionId });
  const refusal = { kind: "condition", detail: "Session is not a chat session", sessionId };
  let replays = 0;
  const told = { onReplayed: () => replays++ };
  expect(await failure(service.chat.completeTurn({ turn: asked }, told))).toEqual(refusal);
  expect(replays).toBe(0);
  await service.sql`update conversations set type = 'CHAT' where conversation_id = ${sessionId}`;
  expect(await failure(service.chat.completeTurn({ turn: asked }, told))).toEqual(refusal);
  expect(await failure(Array.fromAsync(listen(service.chat, asked, told)))).toEqual(refusal);
  expect(replays).toBe(2);
  expect(await transcript(service, agent, sessionId)).toHaveLength(2);
});

test("a failed turn is rerun on the stored message until it succeeds", async () => {
  const asked = keyed("Please");
  service.model.script = (call) => call.respond(500, "text/plain", "x");
  const failed = await failure(complete(asked));
  expect(failed).toMatchObject({ kind: "upstream_failed" });
  service.model.script = (call) => {
    call.piece("Well, I");
    call.end();
  };
  expect(await failure(hear(service.chat, asked))).toMatchObject({
    kind: "upstream_failed",
    sessionId: failed.sessionId,
  });
  service.model.script = (call) => call.finish("Here you are.");
  expect(await complete(asked)).toMatchObject({
    sessionId: failed.sessionId,
    response: "Here you are.",
    replayed: false,
  });
  expect(await complete(asked)).toMatchObject({ response: "Here you are.", replayed: true });
  expect(await transcript(service, agent, failed.sessionId ?? "")).toEqual([
    "user: Please",
    "assistant: Well, I",
    "assistant: Here you are.",
  ]);
});

test("a client that disconnects gets the whole reply when it repeats the request", async () => {
  for (const take of [
    (asked: Turn, origin: ReturnType<typeof leavable>["origin"]) =>
      service.chat.completeTurn({ turn: asked }, { origin }),
    (asked: Turn, origin: ReturnType<typeof leavable>["origin"]) =>
      Array.fromAsync(listen(service.chat, asked, { origin })),
  ]) {
    const asked = keyed("Take your time");
    const called = new Promise<ModelCall>((resolve) => {
      service.model.script = resolve;
    });
    const { origin, leave } = leavable();
    const taken = failure(Promise.resolve(take(asked, origin)));
    const call = await called;
    if (call.body.stream) call.piece("Here ");
    leave();
    expect(await taken).toMatchObject({ kind: "cancelled" });
    const again = hear(service.chat, asked);
    if (call.body.stream) call.finish("I am.");
    else call.finish("Here I am.");
    expect((await again).chunks.join("")).toBe("Here I am.");
    expect(await transcript(service, agent, (await again).sessionId)).toEqual([
      "user: Take your time",
      "assistant: Here I am.",
    ]);
  }
});

test("a turn whose process died is rerun once its lease has ended", async () => {
  const asked = keyed("Hello?");
  service.model.script = () => {};
  const { origin, leave } = leavable();
  const taken = failure(service.chat.completeTurn({ turn: asked }, { origin }));
  const key = asked.idempotency?.key ?? "";
  const bound = await eventually(async () => {
    const [row] = await service.sql`select conversation_id from turn_keys where idempotency_key = ${key}`;
    if (!row) throw new Error("not taken yet");
    return row.conversation_id as string;
  });
  // As if the turn's process had died and another turn had replaced it.
  await service.sql`update conversations set turn_id = gen_random_uuid() where conversation_id = ${bound}`;
  service.clock.advance(15_001);
  service.model.script = (call) => call.finish("Yes.");
  expect(await complete(asked)).toMatchObject({ sessionId: bound, response: "Yes.", replayed: false });
  expect(await transcript(service, agent, bound)).toEqual(["user: Hello?", "assistant: Yes."]);
  leave();
  await taken;
  service.model.calls.at(-2)?.end();
});
