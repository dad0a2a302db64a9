import { afterAll, beforeEach, expect, test } from "bun:test";
import { ConversationType, Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { CarrierUnavailable } from "@parley/shared/carriers/errors";
import { openDatabase } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { enqueueJob } from "@parley/shared/jobs/store";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { failure, failureOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { NotConnected } from "../../src/call/port.ts";
import { endSession } from "../../src/daily/end-session.ts";
import { openSession, prepareSession } from "../../src/daily/new-session.ts";
import { sessionJob } from "../../src/daily/session.ts";
import { type Daily, daily } from "./kit.ts";

let kit: Daily;
const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await kit.stop();
  await db.end();
  await database.drop();
});
beforeEach(async () => {
  await kit?.stop();
  kit = daily(db);
});

/** A session whose room is still empty. */
async function created(given: Parameters<Daily["create"]>[1] = {}) {
  const ownerId = newOwner();
  const answer = await kit.create(ownerId, given);
  await kit.work(ownerId);
  return { ownerId, ...answer };
}

type Created = Awaited<ReturnType<typeof created>>;

/** A person joins, and then the agent. */
async function joined(session: Created) {
  const guest = kit.standIn.join(session.roomName, session.token);
  await until(session, "IN_PROGRESS");
  return guest;
}

/** Runs the job until the session has this status. */
function until(session: Created, status: string) {
  return eventually(async () => {
    await kit.work(session.ownerId);
    const now = await kit.session(session);
    expect(now.status).toBe(status as never);
    return now;
  });
}

const outcomeOf = ({ conversationId }: Created) => kit.conversations.get(conversationId)?.outcome;

test("a session has a private room with SIP, a token for it, and a conversation", async () => {
  const session = await created({ expiresInSeconds: 600, dynamicVariables: { name: "Ada" }, metadata: { page: 1 } });
  expect(session).toMatchObject({
    roomName: `parley-${session.conversationId}`,
    roomUrl: `https://operator.daily.co/parley-${session.conversationId}`,
    expiresAt: new Date(kit.clock.now().getTime() + 600_000),
  });
  expect(kit.standIn.rooms.get(session.roomName)).toMatchObject({
    privacy: "private",
    properties: {
      exp: (session.expiresAt?.getTime() ?? 0) / 1_000,
      eject_at_room_exp: true,
      sip: { sip_mode: "dial-in", video: false, num_endpoints: 1 },
    },
  });
  expect(kit.conversations.get(session.conversationId)?.started).toMatchObject({
    type: ConversationType.CONVERSATION_TYPE_DAILY,
    roomUrl: session.roomUrl,
    roomName: session.roomName,
    dynamicVariables: { name: "Ada" },
    metadata: { page: 1 },
  });
  expect(kit.standIn.join(session.roomName, session.token).userId).toBe(session.conversationId);
});

test("the agent joins when someone enters and leaves when they leave; then the room is deleted", async () => {
  const session = await created();
  expect(kit.dialled).toEqual([]);
  const guest = await joined(session);
  expect(kit.dialled).toEqual([expect.stringMatching(/^\d+@127\.0\.0\.1:5099$/)]);
  expect(kit.held.get(session.conversationId)?.request).toMatchObject({ maxDurationSeconds: 3_600 });
  kit.standIn.leave(session.roomName, guest.id);
  await until(session, "ENDED");
  await kit.work(session.ownerId);
  expect([outcomeOf(session), kit.completions]).toEqual([Outcome.OUTCOME_SUCCESS, 1]);
  expect(kit.standIn.deleted).toEqual([session.roomName]);
});

test("a session that nobody joins within two minutes ends once, as no answer, and its room is deleted", async () => {
  const session = await created();
  await kit.pass(session.ownerId, 119);
  expect((await kit.session(session)).status).toBe("WAITING");
  await kit.pass(session.ownerId, 30);
  expect(kit.conversations.get(session.conversationId)).toMatchObject({
    outcome: Outcome.OUTCOME_NO_ANSWER,
    notes: "Nobody entered the room within two minutes",
  });
  expect([kit.completions, kit.standIn.deleted]).toEqual([1, [session.roomName]]);
  expect(kit.dialled).toEqual([]);
});

test("without webhooks, who is in a room is looked up", async () => {
  kit.standIn.sends.not = true;
  const session = await created();
  const guest = kit.standIn.join(session.roomName, session.token);
  await kit.pass(session.ownerId, 5);
  await until(session, "IN_PROGRESS");
  kit.standIn.leave(session.roomName, guest.id);
  await kit.pass(session.ownerId, 60);
  expect([(await kit.session(session)).status, outcomeOf(session)]).toEqual(["ENDED", Outcome.OUTCOME_SUCCESS]);
});

test("a call continues while Daily's API is down, and ends when the other party hangs up", async () => {
  const session = await created();
  await joined(session);
  kit.standIn.failNext(...Array.from({ length: 20 }, () => 503));
  await kit.pass(session.ownerId, 90);
  expect((await kit.session(session)).status).toBe("IN_PROGRESS");
  kit.standIn.failNext();
  await kit.held.get(session.conversationId)?.end();
  expect(outcomeOf(session)).toBe(Outcome.OUTCOME_SUCCESS);
});

test("a room that its owner deletes at Daily ends the session", async () => {
  const [waiting, talking] = [await created(), await created()];
  await joined(talking);
  for (const { roomName } of [waiting, talking]) kit.standIn.rooms.delete(roomName);
  await kit.pass(waiting.ownerId, 5);
  await kit.pass(talking.ownerId, 20);
  expect(kit.conversations.get(waiting.conversationId)).toMatchObject({
    outcome: Outcome.OUTCOME_CANCELLED,
    notes: "The room was deleted",
  });
  expect(outcomeOf(talking)).toBe(Outcome.OUTCOME_SUCCESS);
});

test("the room's SIP endpoint is dialed again until it is ready", async () => {
  let tries = 0;
  kit.dial = async () => {
    if (++tries < 3) throw new NotConnected("failed", "SIP 404: Not Found");
    return {} as never;
  };
  const session = await created();
  await joined(session);
  expect(tries).toBe(3);
});

test("a room whose SIP endpoint does not answer within thirty seconds fails the session with the endpoint's words", async () => {
  kit.dial = async () => {
    kit.clock.advance(31_000);
    throw new NotConnected("failed", "SIP 503: Service Unavailable");
  };
  const session = await created();
  kit.standIn.join(session.roomName, session.token);
  await until(session, "ENDED");
  expect(kit.conversations.get(session.conversationId)).toMatchObject({
    outcome: Outcome.OUTCOME_ERROR,
    notes: "Daily's room: SIP 503: Service Unavailable",
  });
});

test.each(["unavailable", "deadline"] as const)(
  "the agent joins later if a service that it needs is away: %s",
  async (kind) => {
    const { startCall } = kit.ctx;
    kit.ctx.startCall = async () => {
      kit.ctx.startCall = startCall;
      throw new ServiceError(kind, "The agent service did not answer");
    };
    const session = await created();
    kit.standIn.join(session.roomName, session.token);
    await eventually(async () => {
      await kit.pass(session.ownerId, 1);
      expect(["IN_PROGRESS", "ENDED"]).toContain((await kit.session(session)).status);
    });
    expect((await kit.session(session)).status).toBe("IN_PROGRESS");
  },
);

test("an owner at its limit of calls joins when a place is free, and fails after two minutes", async () => {
  await kit.stop();
  kit = daily(db, { callsMax: 1 });
  const first = await created();
  const ownerId = first.ownerId;
  const second = { ownerId, ...(await kit.create(ownerId)) };
  await joined(first);
  kit.standIn.join(second.roomName, second.token);
  await kit.pass(ownerId, 5);
  expect((await kit.session(second)).status).toBe("WAITING");
  await kit.held.get(first.conversationId)?.end();
  await kit.pass(ownerId, 2);
  await until(second, "IN_PROGRESS");

  const third = { ownerId, ...(await kit.create(ownerId)) };
  kit.standIn.join(third.roomName, third.token);
  await kit.pass(ownerId, 130);
  expect(kit.conversations.get(third.conversationId)).toMatchObject({
    outcome: Outcome.OUTCOME_ERROR,
    notes: "no place",
  });
});

test("a call of a process that died ends the session and deletes the room", async () => {
  const session = await created();
  await joined(session);
  await kit.held.get(session.conversationId)?.end({ outcome: "ERROR", notes: "The process stopped" });
  await kit.work(session.ownerId);
  expect(await kit.session(session)).toMatchObject({ status: "ENDED", notes: "The process stopped", isRoomGone: true });
  expect(outcomeOf(session)).toBe(Outcome.OUTCOME_ERROR);
});

test("a session whose process dies before its answer leaves no room and no conversation", async () => {
  const ownerId = newOwner();
  const { session } = await prepareSession(kit.ctx, { ownerId, agentId: "agt_1" } as never);
  expect(kit.standIn.rooms.has(session.roomName)).toBeTrue();
  await kit.pass(ownerId, 61);
  expect([kit.standIn.deleted, [...kit.conversations], kit.completions]).toEqual([[session.roomName], [], 0]);
});

test("a conversation that did not begin before the response begins soon after it", async () => {
  const ownerId = newOwner();
  const prepared = await prepareSession(kit.ctx, { ownerId, agentId: "agt_1" } as never);
  await db.begin((tx) => openSession(tx, kit.ctx, prepared));
  expect(kit.conversations.size).toBe(0);
  await kit.work(ownerId);
  expect([...kit.conversations.keys()]).toEqual([prepared.session.conversationId]);
});

test("a room is deleted even after Daily was down", async () => {
  const session = await created();
  await joined(session);
  await kit.held.get(session.conversationId)?.end();
  kit.standIn.failNext(503);
  expect(await failureOf(kit.work(session.ownerId))).toBeInstanceOf(CarrierUnavailable);
  // A worker does the same after a failed run.
  await enqueueJob(db, sessionJob(session, kit.clock.now()));
  await kit.work(session.ownerId);
  expect(kit.standIn.deleted).toEqual([session.roomName]);
});

test("one idempotency key makes one session, however often it is used", async () => {
  const ownerId = newOwner();
  const idempotency = { key: "k-1", fingerprint: Buffer.from("same") };
  const [first, second] = [await kit.create(ownerId, { idempotency }), await kit.create(ownerId, { idempotency })];
  expect(second).toEqual(first);
  expect([kit.standIn.rooms.size, kit.conversations.size]).toEqual([1, 1]);
});

test("a room created by an attempt that got no answer is used", async () => {
  const ownerId = newOwner();
  const connection = await kit.ctx.connections.find(ownerId);
  const room = { name: `parley-${ownerId}`, expiresAt: new Date(kit.clock.now().getTime() + 60_000) };
  const first = await connection?.api.createRoom(room);
  expect(await connection?.api.createRoom(room)).toEqual(first as never);
});

test("an owner's own Daily domain is used before the operator's", async () => {
  const ownerId = newOwner();
  kit.connect(ownerId, "key-of-the-owner");
  const { roomUrl } = await kit.create(ownerId);
  expect(roomUrl).toStartWith("https://domain-0.daily.co/");
});

test("without any Daily key a session is refused", async () => {
  await kit.stop();
  kit = daily(db, { operatorKey: "" });
  expect(await failure(kit.create(newOwner()))).toMatchObject({ kind: "condition", detail: "Daily is not configured" });
});

test("without SIP, a session is refused with a message that says what to set", async () => {
  await kit.stop();
  kit = daily(db, { hasSip: false });
  expect(await failure(kit.create(newOwner()))).toMatchObject({
    kind: "condition",
    detail: "Daily rooms need PARLEY_SIP_LISTEN: this installation has not set it",
  });
});

test("an agent that cannot hold a call is refused before Daily is asked for anything", async () => {
  expect(await failure(kit.create(newOwner(), { agentId: "agt_mute" }))).toMatchObject({ kind: "condition" });
  expect(kit.standIn.asked).toEqual([]);
});

test.each([0, 59, 14_401, -1])("expires_in_seconds of %i is refused by its name", async (expiresInSeconds) => {
  expect(await failure(kit.create(newOwner(), { expiresInSeconds }))).toEqual({
    kind: "invalid",
    detail: "expires_in_seconds must be from 60 to 14400",
    paths: ["expires_in_seconds"],
  });
});

test.each([
  [400, "upstream_failed", "Daily refused: server-error: as the test wants"],
  [401, "upstream_failed", "Daily refused: server-error: as the test wants"],
  [429, "unavailable", "Daily answered 429. Try again."],
  [500, "unavailable", "Daily answered 500. Try again."],
] as const)(
  "Daily's status %i while it creates a room is reported as %s and leaves nothing behind",
  async (status, kind, detail) => {
    const ownerId = newOwner();
    // The second failure answers the look-up of the room.
    kit.standIn.failNext(status, ...(status === 400 ? [404] : []));
    expect(await failure(kit.create(ownerId))).toMatchObject({ kind, detail });
    await kit.work(ownerId);
    expect([kit.standIn.rooms.size, kit.conversations.size, kit.completions]).toEqual([0, 0, 0]);
  },
);

test("a token that Daily refuses leaves no room", async () => {
  const ownerId = newOwner();
  const { createRoom } = (await kit.ctx.connections.find(ownerId))?.api ?? {};
  expect(createRoom).toBeDefined();
  const find = kit.ctx.connections.find;
  kit.ctx.connections.find = async (owner) => {
    const connection = await find(owner);
    if (connection)
      connection.api.createToken = () => Promise.reject(new CarrierUnavailable("Daily cannot be reached"));
    return connection;
  };
  expect(await failure(kit.create(ownerId))).toMatchObject({ kind: "unavailable" });
  await kit.work(ownerId);
  expect(kit.standIn.deleted).toHaveLength(1);
});

test("a session that has ended keeps nothing of what it was created with, which its conversation has", async () => {
  const given = { dynamicVariables: { name: "Ada" }, metadata: { page: 1 } };
  const kept = async (session: Parameters<typeof kit.session>[0]) => {
    const { dynamicVariables, metadata } = await kit.session(session);
    return { dynamicVariables, metadata };
  };
  const nothing = { dynamicVariables: {}, metadata: {} };
  const held = await created(given);
  const guest = await joined(held);
  expect(await kept(held)).toEqual(given);
  kit.standIn.leave(held.roomName, guest.id);
  await until(held, "ENDED");
  expect(await kept(held)).toEqual(nothing);

  const ownerId = newOwner();
  const prepared = await prepareSession(kit.ctx, { ownerId, agentId: "agt_1", ...given } as never);
  await db.begin((tx) => openSession(tx, kit.ctx, prepared));
  await endSession(kit.ctx, prepared.session, { outcome: "CANCELLED", durationSeconds: 0, notes: null });
  await kit.work(ownerId);
  expect(kit.conversations.get(prepared.session.conversationId)?.started).toMatchObject(given);
  expect(await kept(prepared.session)).toEqual(nothing);
});

test("a session whose room Daily did not create keeps nothing of what it was created with", async () => {
  const ownerId = newOwner();
  const find = kit.ctx.connections.find;
  kit.ctx.connections.find = async (owner) => {
    const connection = await find(owner);
    if (connection) connection.api.createRoom = () => Promise.reject(new CarrierUnavailable("Daily cannot be reached"));
    return connection;
  };
  expect(await failure(kit.create(ownerId, { metadata: { page: 1 } }))).toMatchObject({ kind: "unavailable" });
  const rows = await db`select status, metadata from daily_sessions where owner_id = ${ownerId}`;
  expect([...rows]).toEqual([{ status: "ENDED", metadata: {} }]);
});

test("an owner has a hundred open sessions at most", async () => {
  const ownerId = newOwner();
  const { conversationId } = await kit.create(ownerId);
  await db`
    insert into daily_sessions (owner_id, conversation_id, agent_id, connection, room_name, dynamic_variables, metadata, status,
      waits_until, expires_at, created_at)
    select owner_id, gen_random_uuid(), agent_id, connection, room_name || number, dynamic_variables, metadata, status, waits_until,
      expires_at, created_at
    from daily_sessions, generate_series(1, 99) as number where conversation_id = ${conversationId}`;
  expect(await failure(kit.create(ownerId))).toMatchObject({ kind: "rate_limited" });
  expect((await kit.create(newOwner())).token).not.toBe("");
});
