import { afterAll, expect, test } from "bun:test";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import {
  createAgent,
  failure,
  hear,
  inline,
  leavable,
  listen,
  say,
  startTestChat,
  type TestAgent,
  transcript,
  turn,
} from "./kit.ts";

const TURNS_MAX = 8;
const CUT = {
  kind: "rate_limited",
  detail: expect.stringContaining("this reply was cut off"),
  sessionId: expect.any(String),
};

// No more connections than turns that an owner may have.
const limits = { PARLEY_OWNER_TURNS_MAX: String(TURNS_MAX), PARLEY_DATABASE_POOL: String(TURNS_MAX) };
const service = await startTestChat(limits);
afterAll(() => service.stop());

/** As many turns as an owner may have, with a model that says nothing until its client leaves. */
async function fill(agent: TestAgent, given: Parameters<typeof turn>[2] = {}) {
  const { origin, leave } = leavable();
  service.model.script = () => {};
  const streams = Array.from({ length: TURNS_MAX }, () => listen(service.chat, turn(agent, "Hi", given), { origin }));
  await Promise.all(streams.map((stream) => stream.next()));
  const ended = Promise.all(streams.map((stream) => failure(Array.fromAsync(stream))));
  return async () => {
    leave();
    await ended;
  };
}

const countOf = async ({ ownerId }: TestAgent) =>
  (await service.sql`select from conversations where owner_id = ${ownerId}`).length;

test("an owner at its limit of concurrent turns is refused before its message is stored, and no other owner is", async () => {
  const [greedy, modest] = [await createAgent(service), await createAgent(service)];
  const leave = await fill(greedy);
  expect(await failure(say(service, greedy))).toMatchObject({
    kind: "rate_limited",
    detail: "This account has too many chat turns in progress. Try again.",
  });
  const idempotency = { key: newUuid(), fingerprint: Buffer.alloc(32) };
  const keyed = turn(greedy, "Hi", { idempotency });
  expect(await failure(service.chat.completeTurn({ turn: keyed }))).toMatchObject({ kind: "rate_limited" });
  expect(await countOf(greedy)).toBe(TURNS_MAX);
  service.model.script = (call) => call.finish("Hello.");
  expect((await say(service, modest)).response).toBe("Hello.");
  await leave();
  await eventually(async () => expect((await say(service, greedy)).response).toBe("Hello."));
  // The key did not store the refusal.
  expect((await service.chat.completeTurn({ turn: keyed })).response).toBe("Hello.");
});

/** Statements that wait for a lock on the table of turns' keys. */
async function waitingForKeys(database: string): Promise<number> {
  const [row] = await service.admin`
    select count(*)::integer as count from pg_stat_activity
    where datname = ${database} and wait_event_type = 'Lock' and query like '%turn_keys%'`;
  return row?.count;
}

test("turns with idempotency keys are accepted a few at a time and leave connections to other owners", async () => {
  const [greedy, modest] = [await createAgent(service), await createAgent(service)];
  service.model.script = (call) => call.finish("Hello.");
  expect((await say(service, modest)).response).toBe("Hello.");
  const [{ database }] = await service.sql<[{ database: string }]>`select current_database() as database`;
  const locked = Promise.withResolvers<void>();
  const unlocked = Promise.withResolvers<void>();
  const transaction = service.sql.begin(async (tx) => {
    await tx`lock table turn_keys in access exclusive mode`;
    locked.resolve();
    await unlocked.promise;
  });
  await locked.promise;
  const keyed = () => turn(greedy, "Hi", { idempotency: { key: newUuid(), fingerprint: Buffer.alloc(32) } });
  const replies = Promise.all(Array.from({ length: TURNS_MAX }, () => service.chat.completeTurn({ turn: keyed() })));
  try {
    await eventually(async () => expect(await waitingForKeys(database)).toBe(6));
    expect((await say(service, modest)).response).toBe("Hello.");
    expect(await waitingForKeys(database)).toBe(6);
  } finally {
    unlocked.resolve();
    await transaction;
  }
  expect((await replies).map(({ response }) => response)).toEqual(Array(TURNS_MAX).fill("Hello."));
});

test("a streamed reply that outgrows its owner's share is cut off with an error and stored as partial", async () => {
  const agent = await createAgent(service);
  service.model.script = async (call) => {
    let gone = false;
    call.left.then(() => {
      gone = true;
    });
    while (!gone) if (!call.piece("word ".repeat(1_000))) await call.drained();
  };
  const failed = await failure(hear(service.chat, turn(agent)));
  expect(failed).toEqual(CUT);
  await eventually(async () => {
    const [, reply = ""] = await transcript(service, agent, failed.sessionId ?? "");
    expect(reply.length).toBeGreaterThan(10_000);
    expect(reply).toMatch(/^assistant: (word )+$/);
  });
  service.model.script = (call) => call.finish("Short.");
  expect((await say(service, agent, "And now?", failed.sessionId)).response).toBe("Short.");
});

test("a non-streamed reply that outgrows its owner's share is aborted, and the session continues", async () => {
  const agent = await createAgent(service);
  service.model.script = (call) => call.respond(200, "application/json", `{"a":"${"\\u0001".repeat(100_000)}"}`);
  const failed = await failure(say(service, agent));
  expect(failed).toEqual(CUT);
  service.model.script = (call) => call.finish("Short.");
  expect((await say(service, agent, "And now?", failed.sessionId)).response).toBe("Short.");
});

test("turns whose prompts are long count as several", async () => {
  const agent = await createAgent(service, { prompt: inline("Rules. ".repeat(65_000)) });
  service.model.script = () => {};
  const { origin, leave } = leavable();
  const first = listen(service.chat, turn(agent), { origin });
  await first.next();
  const ended = failure(Array.fromAsync(first));
  await eventually(() => expect(service.model.calls.at(-1)?.body.messages[0].content).toStartWith("Rules."));
  expect(await failure(say(service, agent))).toEqual(CUT);
  leave();
  await ended;
});

test("replies of usual length, sequential or concurrent, never reach their owner's share", async () => {
  const agent = await createAgent(service);
  service.model.script = (call) => {
    for (let words = 0; words < 60; words++) call.piece("word ");
    call.finish();
  };
  for (let round = 0; round < 5; round++) {
    const heard = await Promise.all(Array.from({ length: TURNS_MAX }, () => hear(service.chat, turn(agent))));
    for (const { chunks } of heard) expect(chunks.join("")).toHaveLength(300);
    // A turn frees its share a moment after its client has the end.
    await eventually(() => hear(service.chat, turn(agent)));
  }
});
