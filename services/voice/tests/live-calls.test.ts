import { afterAll, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { migrate } from "@parley/shared/db/migrate";
import { notFound } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { silentLogger } from "@parley/shared/log";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { completeLost } from "../src/call/complete-call.ts";
import { type LiveCalls, liveCalls } from "../src/call/live-calls.ts";
import { MIGRATIONS } from "../src/migrations.ts";
import type { LostCall } from "../src/store/calls.ts";
import { FAR_END } from "./media-stream/carrier.ts";

const database = await createTestDatabase(EMPTY_TEMPLATE);
const db = openDatabase({ url: database.urls.prompt, max: 4, name: "test" });
await migrate(db, MIGRATIONS);
afterAll(async () => {
  await db.end();
  await database.drop();
});

/** One process of the voice service, reduced to its calls in the database. */
function startProcess(clock: FakeClock, endLost: (call: LostCall) => Promise<boolean> = async () => true): LiveCalls {
  return liveCalls({ db, clock, log: silentLogger, callsMax: 2, endLost, overtaken: () => {}, beatMs: 10 });
}

const callOf = (ownerId = newOwner()) => ({ ownerId, conversationId: newUuid() });

test("an owner has no more calls than its limit, whichever processes hold them, and others have theirs", async () => {
  const clock = fakeClock();
  const processes = [startProcess(clock), startProcess(clock)];
  const owner = newOwner();
  const calls = Array.from({ length: 6 }, () => callOf(owner));
  const taken = await Promise.allSettled(calls.map((call, at) => processes[at % 2]?.take(call)));
  expect(taken.filter(({ status }) => status === "fulfilled")).toHaveLength(2);
  const refused = await serviceErrorOf(processes[0]?.take(callOf(owner)) as Promise<void>);
  expect(refused).toMatchObject({
    kind: "rate_limited",
    detail:
      "This account has 2 calls in progress, which is its limit: end one or wait until one ends; " +
      "the operator can raise the limit with PARLEY_CALLS_CONCURRENT_MAX",
  });
  await processes[1]?.take(callOf());
  const first = calls[taken.findIndex(({ status }) => status === "fulfilled")];
  for (const process of processes) if (first) await process.release(first);
  await processes[0]?.take(callOf(owner));
  await Promise.all(processes.map((process) => process.stop()));
});

test("the calls of a process that died are ended once, by another, when their leases have ended", async () => {
  const clock = fakeClock();
  const [dead, call] = [startProcess(clock), callOf()];
  await dead.take(call);
  clock.advance(1_000);
  await dead.connected(call, FAR_END);
  // It no longer extends its leases.
  await dead.stop();
  const ended: LostCall[] = [];
  const others = [1, 2].map(() =>
    startProcess(clock, async (lost) => {
      if (lost.conversationId === call.conversationId) ended.push(lost);
      return true;
    }),
  );
  expect(ended).toEqual([]);
  clock.advance(7_000);
  const own = callOf(call.ownerId);
  await others[0]?.take(own);
  await eventually(async () => {
    const left = await db`select conversation_id from calls where owner_id = ${call.ownerId}`;
    expect(left.map(({ conversationId }) => conversationId)).toEqual([own.conversationId]);
  });
  expect(ended).toHaveLength(1);
  expect(ended[0]?.durationSeconds).toBeGreaterThan(0);
  expect(ended[0]?.farEnd).toEqual(FAR_END);
  await Promise.all(others.map((process) => process.stop()));
});

test("whoever ends the call of a process that died before the other party was connected knows how to hang it up", async () => {
  const clock = fakeClock();
  const [dead, call] = [startProcess(clock), callOf()];
  await dead.take(call, FAR_END);
  await dead.stop();
  const ended: LostCall[] = [];
  const other = startProcess(clock, async (lost) => ended.push(lost) > 0);
  clock.advance(7_000);
  await eventually(() =>
    expect(ended).toContainEqual(expect.objectContaining({ ...call, durationSeconds: null, farEnd: FAR_END })),
  );
  await other.stop();
});

test("a process that was frozen learns which of its calls another process has ended", async () => {
  const clock = fakeClock();
  let isFrozen = false;
  const waiting: (() => void)[] = [];
  const freezing = new Proxy(db, {
    apply: async (target, self, given) => {
      if (isFrozen) await new Promise<void>((goOn) => waiting.push(goOn));
      return Reflect.apply(target, self, given);
    },
  });
  const [ended, overtaken] = [[] as string[], [] as string[]];
  const frozen: LiveCalls = liveCalls({
    db: freezing,
    clock,
    log: silentLogger,
    callsMax: 2,
    endLost: async () => true,
    overtaken: (call) => {
      overtaken.push(call.conversationId);
      void frozen.release(call);
    },
    beatMs: 10,
  });
  const [lost, later] = [callOf(), callOf()];
  await frozen.take(lost);
  isFrozen = true;
  await eventually(() => expect(waiting).not.toEqual([]));
  const other = startProcess(clock, async ({ conversationId }) => ended.push(conversationId) > 0);
  clock.advance(7_000);
  await eventually(() => expect(ended).toContain(lost.conversationId));
  await eventually(async () =>
    expect(await db`select from calls where conversation_id = ${lost.conversationId}`).toHaveLength(0),
  );
  isFrozen = false;
  for (const goOn of waiting) goOn();
  await frozen.take(later);
  await eventually(() => expect(overtaken).toEqual([lost.conversationId]));
  await frozen.release(later);
  await Promise.all([frozen.stop(), other.stop()]);
  expect(overtaken).toEqual([lost.conversationId]);
});

test("ending a lost call is retried until it succeeds", async () => {
  const clock = fakeClock();
  const [dead, call] = [startProcess(clock), callOf()];
  await dead.take(call);
  await dead.stop();
  let tries = 0;
  const other = startProcess(clock, async (lost) => {
    if (lost.conversationId !== call.conversationId) return true;
    tries++;
    if (tries === 1) throw new Error("the conversation service is away");
    return true;
  });
  clock.advance(7_000);
  await eventually(() => expect(tries).toBe(1));
  clock.advance(7_000);
  await eventually(() => expect(tries).toBe(2));
  await other.stop();
});

test("a call that its process has given up ends even if the database was down then", async () => {
  const clock = fakeClock();
  const call = callOf();
  const ended: string[] = [];
  const process = startProcess(clock, async ({ conversationId }) => ended.push(conversationId) > 0);
  await process.take(call);
  const [row] = await db`select * from calls where owner_id = ${call.ownerId}`;
  await process.release(call);
  // As if the row had not been deleted.
  await db`insert into calls ${db(row as never)}`;
  clock.advance(7_000);
  await eventually(() => expect(ended).toContain(call.conversationId));
  await process.stop();
});

test("the calls of processes that live survive an outage of the database that is longer than their leases", async () => {
  const clock = fakeClock();
  let isAway = false;
  const asked = { inVain: 0, answered: 0 };
  const flaky = new Proxy(db, {
    apply: (target, self, given) => {
      asked[isAway ? "inVain" : "answered"]++;
      return isAway ? Promise.reject(new Error("the database is away")) : Reflect.apply(target, self, given);
    },
  });
  const ended: string[] = [];
  const endLost = async ({ conversationId }: LostCall) => ended.push(conversationId) > 0;
  const quick = liveCalls({
    db: flaky,
    clock,
    log: silentLogger,
    callsMax: 2,
    endLost,
    overtaken: () => {},
    beatMs: 10,
  });
  // A process that lives, but does not reach the database again before the other.
  const [slow, call] = [startProcess(clock), callOf()];
  await slow.take(call);
  await slow.stop();
  isAway = true;
  await eventually(() => expect(asked.inVain).toBeGreaterThan(0));
  clock.advance(7_000);
  isAway = false;
  const before = asked.answered;
  await eventually(() => expect(asked.answered).toBeGreaterThan(before + 5));
  expect(ended).not.toContain(call.conversationId);
  clock.advance(7_000);
  await eventually(() => expect(ended).toContain(call.conversationId));
  await quick.stop();
});

/** Ends calls at a conversation service that knows these conversations. */
function endsLost(clock: FakeClock, begun: ReadonlySet<string>, ended: string[]) {
  const conversations = {
    completeConversation: async ({ conversationId }: { conversationId: string }) => {
      if (!begun.has(conversationId)) throw notFound("Conversation");
      ended.push(conversationId);
      return {} as never;
    },
  };
  const recordings = { addressOf: async () => null, finish: async () => {} };
  return (lost: LostCall) =>
    completeLost(
      { conversations, recordEnd: async (_call, end) => end, recordings, clock, hangUp: async () => {} },
      lost,
    );
}

const leaseEnds = async (clock: FakeClock, { conversationId }: { conversationId: string }) => {
  const leaseOf = async () => (await db`select leased_until from calls where conversation_id = ${conversationId}`)[0];
  const before = await leaseOf();
  clock.advance(7_000);
  await eventually(async () => expect(await leaseOf()).not.toEqual(before));
};

test("a conversation that begins after its process was found dead is ended too, and takes no place in the meantime", async () => {
  const clock = fakeClock();
  const [dead, call] = [startProcess(clock), callOf()];
  await dead.take(call);
  await dead.stop();
  const [begun, ended] = [new Set<string>(), [] as string[]];
  const other = startProcess(clock, endsLost(clock, begun, ended));
  await leaseEnds(clock, call);
  for (const own of [callOf(call.ownerId), callOf(call.ownerId)]) await eventually(() => other.take(own));
  // The request that was in progress succeeds.
  begun.add(call.conversationId);
  await leaseEnds(clock, call);
  // Another process takes the lease first, and then ends the call.
  await eventually(() => expect(ended).toEqual([call.conversationId]));
  await other.stop();
});

test("a call whose conversation never begins is forgotten a minute later, or begins again with another attempt", async () => {
  const clock = fakeClock();
  const dead = startProcess(clock);
  const [forgotten, again] = [callOf(), callOf()];
  for (const call of [forgotten, again]) await dead.take(call);
  await dead.stop();
  const other = startProcess(clock, endsLost(clock, new Set(), []));
  await leaseEnds(clock, forgotten);
  await eventually(() => other.take(again));
  for (let seconds = 7; seconds < 60; seconds += 7) {
    expect(await db`select 1 from calls where conversation_id = ${forgotten.conversationId}`).toHaveLength(1);
    await leaseEnds(clock, forgotten);
  }
  await eventually(async () => {
    expect(await db`select 1 from calls where conversation_id = ${forgotten.conversationId}`).toHaveLength(0);
  });
  expect(await db`select 1 from calls where conversation_id = ${again.conversationId}`).toHaveLength(1);
  await other.stop();
});
