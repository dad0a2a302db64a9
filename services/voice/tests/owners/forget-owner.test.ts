import { afterAll, expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { CallStatus } from "@parley/proto/parley/voice/v1/call.ts";
import { CallBatchSettings } from "@parley/proto/parley/voice/v1/call_batch.ts";
import { CreateCallBatchRequest } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import type { Job } from "@parley/shared/jobs/store";
import type { Call as Served } from "@parley/shared/rpc/call";
import { createTestDatabase } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { forgetOwners } from "../../src/owners/forget-owner.ts";
import { forgetOwner } from "../../src/rpc/forget-owner.ts";
import { insertDailySession, storeRoom } from "../../src/store/daily-sessions.ts";
import { storeTrunkRegistration } from "../../src/store/trunk-registrations.ts";
import { answered, type Outbound, outbound, ringing } from "../outbound/kit.ts";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

const served = {} as Served;

async function forget(kit: Outbound, ownerId: string) {
  const removed: string[] = [];
  const remove = async (_ownerId: string, ids: readonly string[]) => {
    removed.push(...ids);
    await db`update recordings set state = 'removing' where conversation_id = any(${[...ids]}::uuid[])`;
  };
  const { "forget-owner": queue } = forgetOwners({ ...kit.ctx, recordings: { remove } }).queues;
  await queue?.run({ ownerId, payload: {} } as Job, new AbortController().signal);
  await kit.work(ownerId);
  return removed;
}

/** An owner with one of everything. */
async function busyOwner(kit: Outbound) {
  const held = await ringing(kit);
  await answered(kit, held);
  const { ownerId } = held;
  const rings = await kit.create(ownerId);
  await kit.pass(ownerId, 2);
  const request = CreateCallBatchRequest.fromPartial({
    ownerId,
    calls: ["+14155550301", "+14155550302"].map((toMobileNumber) => ({ toMobileNumber })),
  });
  const settings = CallBatchSettings.fromPartial({ agentId: "agt_1", startAt: new Date("2099-01-01") });
  await kit.handlers.createCallBatch?.({ ...request, settings }, served);
  const waits = await kit.create(ownerId);
  await kit.handlers.addDoNotCall?.({ ownerId, mobileNumber: "+14155550199" }, served);
  const now = kit.clock.now();
  const registered = { state: "REGISTERED", expiresAt: now, sipStatus: null, reason: null } as const;
  await storeTrunkRegistration(db, { ownerId, carrierId: "car_1" }, registered, now);
  const [recordingId, sessionId] = [newUuid(), newUuid()];
  await db`
    insert into recordings (owner_id, conversation_id, state, bytes, started_at)
    values (${ownerId}, ${recordingId}, 'ready', 1, ${now})`;
  const session = {
    ...{
      ownerId,
      conversationId: sessionId,
      agentId: "agt_1",
      agentVersion: null,
      connection: "operator",
      roomName: sessionId,
    },
    ...{ dynamicVariables: {}, metadata: {}, waitsUntil: now, expiresAt: now, createdAt: now },
  };
  await insertDailySession(db, session, 100);
  await storeRoom(db, session, { roomUrl: "https://x.daily.co/y", sipUri: "sip:y@daily", waitsUntil: now });
  return { ownerId, held, rings, waits, recordingId, sessionId };
}

const carrierIdOf = async ({ callId }: { callId: string }) =>
  (await db`select carrier_call_id from outbound_calls where call_id = ${callId}`)[0]?.carrierCallId;

const left = async (ownerId: string) => {
  const [row] = await db`
    select (select count(*) from call_batches where owner_id = ${ownerId}) as batches,
      (select count(*) from batch_calls where owner_id = ${ownerId}) as numbers,
      (select count(*) from do_not_call where owner_id = ${ownerId}) as denied,
      (select count(*) from do_not_call_totals where owner_id = ${ownerId}) as totals,
      (select count(*) from trunk_registrations where owner_id = ${ownerId}) as trunks,
      (select count(*) from daily_sessions where owner_id = ${ownerId} and status <> 'ENDED') as sessions`;
  return row;
};

test("a deleted owner's calls end, its lists and recordings go, and another owner keeps everything", async () => {
  const kit = outbound(db, { callsPerSecond: 10 });
  const [gone, other] = [await busyOwner(kit), await busyOwner(kit)];
  expect(await forget(kit, gone.ownerId)).toEqual([gone.recordingId]);
  expect(await left(gone.ownerId)).toEqual({ batches: 0, numbers: 0, denied: 0, totals: 0, trunks: 0, sessions: 0 });
  expect(kit.signals).toContainEqual({ conversationId: gone.held.conversationId, signal: "hang_up" });
  expect(kit.carrier.hungUp).toEqual([await carrierIdOf(gone.rings)]);
  for (const call of [gone.rings, gone.waits]) {
    expect(await kit.get({ ...call, ownerId: gone.ownerId })).toMatchObject({
      status: CallStatus.CALL_STATUS_ENDED,
      outcome: Outcome.OUTCOME_CANCELLED,
      notes: "The account was deleted",
    });
    expect(kit.conversations.get(call.conversationId)).toMatchObject({ outcome: Outcome.OUTCOME_CANCELLED });
  }
  expect(await db`select is_to_complete from daily_sessions where conversation_id = ${gone.sessionId}`).toEqual([
    { isToComplete: true },
  ] as never);

  expect(await left(other.ownerId)).toEqual({ batches: 1, numbers: 2, denied: 1, totals: 1, trunks: 1, sessions: 1 });
  expect(kit.signals.filter(({ conversationId }) => conversationId === other.held.conversationId)).toEqual([]);
  expect((await kit.get({ ...other.rings, ownerId: other.ownerId })).status).not.toBe(CallStatus.CALL_STATUS_ENDED);
});

test("a deleted owner's carriers are needed until its calls have been hung up, also while a carrier is down", async () => {
  const kit = outbound(db);
  const needsCarriers = async (ownerId: string) => (await forgetOwner(kit.ctx)({ ownerId }, served)).needsCarriers;
  const call = await ringing(kit);
  const { ownerId } = call;
  expect(await needsCarriers(ownerId)).toBe(true);
  kit.ctx.carriersOf = async (_ownerId, _carrierId, options) => {
    if (!options?.hangsUp) throw notFound("Carrier");
    return kit.carrier;
  };
  kit.carrier.isDown = true;
  await forget(kit, ownerId);
  expect(await kit.get(call)).toMatchObject({ status: CallStatus.CALL_STATUS_ENDED });
  expect(await needsCarriers(ownerId)).toBe(true);
  kit.carrier.isDown = false;
  await kit.pass(ownerId, 3);
  expect(kit.carrier.hungUp).toEqual([call.carrierCallId]);
  expect(await needsCarriers(ownerId)).toBe(false);

  kit.ctx.carriersOf = async () => kit.carrier;
  const held = await ringing(kit);
  await answered(kit, held);
  await forget(kit, held.ownerId);
  expect(await needsCarriers(held.ownerId)).toBe(true);
  await kit.held.get(held.conversationId)?.end({});
  expect(await needsCarriers(held.ownerId)).toBe(false);
});

test("an owner is forgotten as often as it is asked for, also one that has nothing", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  expect(await forget(kit, ownerId)).toEqual([]);
  expect(await forget(kit, ownerId)).toEqual([]);
});
