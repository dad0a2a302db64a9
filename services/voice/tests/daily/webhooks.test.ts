import { afterAll, beforeEach, expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { dailySignature } from "@parley/shared/carriers/signatures";
import { openDatabase } from "@parley/shared/db/database";
import { createTestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { type DailyParticipant, deliver } from "@parley/testkit/stand-ins/carriers/daily-api";
import { type Daily, daily, OPERATORS_KEY } from "./kit.ts";

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

/** A session whose webhooks the test sends itself. */
async function created(ownerId = newOwner()) {
  const answer = await kit.create(ownerId);
  await kit.work(ownerId);
  kit.standIn.sends.not = true;
  return { ownerId, ...answer };
}

type Created = Awaited<ReturnType<typeof created>>;

const stayOf = (session: Created, id: string = crypto.randomUUID()): DailyParticipant => ({
  id,
  userId: session.conversationId,
  userName: "Guest",
  joinedAt: 0,
});

const eventOf = (session: Created, type: string, payload: object) => ({
  version: "1.0.0",
  type,
  id: crypto.randomUUID(),
  payload: { room: session.roomName, ...payload },
  event_ts: 0,
});

/** Daily reports a stay, as often as the test wants. */
async function tell(session: Created, type: string, { id, userId }: DailyParticipant, times = 1): Promise<void> {
  for (let time = 0; time < times; time++) await send(eventOf(session, type, { session_id: id, user_id: userId }));
  await kit.work(session.ownerId);
}

async function send(event: object, apiKey = OPERATORS_KEY): Promise<number> {
  const [webhook] = kit.standIn.webhooks(apiKey);
  if (!webhook) throw new Error("there is no webhook");
  return (await deliver(webhook, event)).status;
}

const statusOf = async (session: Created) => (await kit.session(session)).status;

/** Waits until the agent is in the room. */
const agentJoined = (session: Created) => eventually(async () => expect(await statusOf(session)).toBe("IN_PROGRESS"));

test("Daily's webhooks are set up once, and again after Daily has given up on them", async () => {
  const ownerId = newOwner();
  const [first, second] = [await created(ownerId), await created(ownerId)];
  expect(first.roomName).not.toBe(second.roomName);
  const [webhook, ...others] = kit.standIn.webhooks(OPERATORS_KEY);
  expect([webhook, others]).toMatchObject([
    {
      url: `${kit.ctx.publicUrl}/v1/carriers/daily/operator`,
      eventTypes: ["participant.joined", "participant.left", "meeting.ended", "dialin.ready"],
    },
    [],
  ]);
  if (webhook) Object.assign(webhook, { state: "FAILED", hmac: "" });
  await created(ownerId);
  expect(kit.standIn.webhooks(OPERATORS_KEY)).toMatchObject([
    { state: "ACTIVE", hmac: expect.stringMatching(/.{40}/) },
  ]);
});

test("repeated webhooks bring the agent once and end the session once", async () => {
  const session = await created();
  const stay = stayOf(session);
  await tell(session, "participant.joined", stay, 2);
  await agentJoined(session);
  expect(kit.dialled).toHaveLength(1);
  await tell(session, "participant.left", stay, 2);
  expect([await statusOf(session), kit.completions]).toEqual(["ENDED", 1]);
  await tell(session, "participant.joined", stay);
  expect([kit.dialled.length, kit.completions]).toEqual([1, 1]);
});

test("the agent does not join for a stay that is over before it is reported", async () => {
  const session = await created();
  const stay = stayOf(session);
  await tell(session, "participant.left", stay);
  await tell(session, "participant.joined", stay);
  expect([kit.dialled, await statusOf(session)]).toEqual([[], "WAITING"]);
  await tell(session, "participant.joined", stayOf(session));
  await agentJoined(session);
});

test("a repeated report of the end of an earlier stay or meeting ends nothing", async () => {
  const session = await created();
  const earlier = stayOf(session);
  const earlierMeeting = eventOf(session, "meeting.ended", { end_ts: kit.clock.now().getTime() / 1_000 - 1 });
  await tell(session, "participant.joined", { ...earlier, userId: "somebody else" });
  await tell(session, "participant.left", earlier);
  await tell(session, "participant.joined", stayOf(session));
  await agentJoined(session);
  await tell(session, "participant.left", earlier);
  expect(await send(earlierMeeting)).toBe(200);
  await kit.work(session.ownerId);
  expect(await statusOf(session)).toBe("IN_PROGRESS");
});

test("other people in the room neither bring the agent nor end the session", async () => {
  const session = await created();
  const other = { ...stayOf(session), userId: "an observer" };
  await tell(session, "participant.joined", other);
  expect(kit.dialled).toEqual([]);
  await tell(session, "participant.joined", stayOf(session));
  await agentJoined(session);
  await tell(session, "participant.left", other);
  expect(await statusOf(session)).toBe("IN_PROGRESS");
});

test("the end of the meeting ends the session", async () => {
  const session = await created();
  await tell(session, "participant.joined", stayOf(session));
  await agentJoined(session);
  kit.clock.advance(5_000);
  await send(eventOf(session, "meeting.ended", { end_ts: kit.clock.now().getTime() / 1_000 }));
  await eventually(async () => {
    await kit.work(session.ownerId);
    expect(kit.conversations.get(session.conversationId)?.outcome).toBe(Outcome.OUTCOME_SUCCESS);
  });
});

test("a webhook with a wrong signature is refused, and does nothing", async () => {
  const session = await created();
  const body = JSON.stringify(
    eventOf(session, "participant.joined", { session_id: "s", user_id: session.conversationId }),
  );
  const { hmac = "" } = kit.standIn.webhooks(OPERATORS_KEY)[0] ?? {};
  const right = dailySignature(hmac, "1", body);
  for (const [signature, timestamp] of [
    ["", "1"],
    [right, ""],
    [right, "2"],
    [dailySignature(Buffer.from("guessed").toString("base64"), "1", body), "1"],
  ] as const) {
    expect(await failure(kit.webhook("operator", body, signature, timestamp))).toMatchObject({ kind: "forbidden" });
  }
  expect(await failure(kit.webhook("operator", `${body} `, right, "1"))).toMatchObject({ kind: "forbidden" });
  expect((await kit.session(session)).participantId).toBeNull();
  await kit.webhook("operator", body, right, "1");
  expect((await kit.session(session)).participantId).toBe("s");
});

test("an owner's Daily domain cannot report events of another owner's sessions, or of the operator's", async () => {
  const session = await created();
  const hostile = newOwner();
  const connection = kit.connect(hostile, "key-of-a-hostile-owner");
  kit.standIn.sends.not = false;
  await created(hostile);
  const event = eventOf(session, "participant.joined", { session_id: "s", user_id: session.conversationId });
  expect(await send(event, "key-of-a-hostile-owner")).toBe(200);
  expect((await kit.session(session)).participantId).toBeNull();
  const { hmac = "" } = kit.standIn.webhooks("key-of-a-hostile-owner")[0] ?? {};
  const body = JSON.stringify(event);
  const signature = dailySignature(hmac, "1", body);
  expect(await failure(kit.webhook("operator", body, signature, "1"))).toMatchObject({ kind: "forbidden" });
  expect(connection).toStartWith("car_");
});

test("a webhook for an unknown connection is not found, and one of another room is accepted and ignored", async () => {
  expect(await failure(kit.webhook("car_00000000000000000000000000", "{}"))).toMatchObject({ kind: "not_found" });
  await created();
  expect(await send({ type: "participant.left", payload: { room: "lunch", session_id: "s" } })).toBe(200);
  expect(await send({ type: "recording.started", payload: null })).toBe(200);
});

test.each(["", "[]", "7", '"text"', "{", '{"payload":{}}', '{"type":7}'])(
  "a signed body that is no event is refused: %s",
  async (body) => {
    await created();
    const { hmac = "" } = kit.standIn.webhooks(OPERATORS_KEY)[0] ?? {};
    const signature = dailySignature(hmac, "1", body);
    expect(await failure(kit.webhook("operator", body, signature, "1"))).toMatchObject({ kind: "invalid" });
  },
);
