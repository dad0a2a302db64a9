import { afterAll, expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { CallStatus, Voicemail } from "@parley/proto/parley/voice/v1/call.ts";
import { openDatabase } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import type { Call as Served } from "@parley/shared/rpc/call";
import { createTestDatabase } from "@parley/testkit/database";
import { newOwner } from "@parley/testkit/owners";
import { CarrierRefusal, CarrierUnavailable } from "../../src/carriers/carrier.ts";
import { outboundCalls } from "../../src/outbound/outbound.ts";
import { storeFarEnd } from "../../src/store/calls.ts";
import { answered, type Outbound, outbound, ringing, THEIRS } from "./kit.ts";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

const IN_PROGRESS = CallStatus.CALL_STATUS_IN_PROGRESS;
const ENDED = CallStatus.CALL_STATUS_ENDED;

test.each([
  ["busy", "BUSY"],
  ["no_answer", "NO_ANSWER"],
  ["cancelled", "CANCELLED"],
  ["failed", "ERROR"],
  ["completed", "HUNG_UP_EARLY"],
] as const)("a call that its carrier reports as %s ends as %s, once, with one conversation", async (how, outcome) => {
  const kit = outbound(db);
  const call = await ringing(kit);
  const notes = how === "failed" ? "Twilio 13224: Invalid number" : null;
  const event = {
    type: "ended" as const,
    carrierCallId: call.carrierCallId,
    end: { how, notes, durationSeconds: null },
  };
  await Promise.all([1, 2].map(() => kit.callbacks.report(call, event)));
  await kit.callbacks.report(call, { ...event, end: { ...event.end, how: "completed" } });
  await kit.work(call.ownerId);
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome[`OUTCOME_${outcome}`] });
  expect([...kit.conversations.keys()]).toEqual([call.conversationId]);
  expect(kit.conversations.get(call.conversationId)).toMatchObject({ outcome: Outcome[`OUTCOME_${outcome}`] });
  if (notes) expect(kit.conversations.get(call.conversationId)?.notes).toBe(notes);
});

test("a person who waited for an agent in vain has not hung up early: the call failed", async () => {
  const kit = outbound(db);
  const call = await ringing(kit);
  await kit.callbacks.answer(call, { carrierCallId: call.carrierCallId, machine: null });
  const end = { how: "completed" as const, notes: null, durationSeconds: 9 };
  await kit.callbacks.report(call, { type: "ended", carrierCallId: call.carrierCallId, end });
  const notes = "The call's audio was not connected";
  expect(await kit.get(call)).toMatchObject({
    status: ENDED,
    outcome: Outcome.OUTCOME_ERROR,
    notes,
    durationSeconds: 9,
  });
});

test("late callbacks in any order never revive an ended call", async () => {
  const kit = outbound(db);
  const call = await ringing(kit);
  const { carrierCallId } = call;
  await kit.callbacks.report(call, {
    type: "ended",
    carrierCallId,
    end: { how: "busy", notes: null, durationSeconds: 0 },
  });
  await kit.callbacks.report(call, { type: "ringing", carrierCallId });
  await kit.callbacks.report(call, { type: "answered", carrierCallId, machine: true });
  await kit.callbacks.report(call, { type: "machine_ready", carrierCallId });
  expect(await kit.callbacks.answer(call, { carrierCallId, machine: null })).toBeNull();
  expect(await answered(kit, call)).toBeNull();
  expect(kit.held.has(call.conversationId)).toBe(false);
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_BUSY });
});

test("hanging up takes a waiting call out of the queue, stops a ringing one and ends one in progress", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  const waiting = { ownerId, ...(await kit.create(ownerId)) };
  expect(await kit.hangUp(waiting)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_CANCELLED });
  await kit.pass(ownerId, 5);
  expect(kit.carrier.rang).toEqual([]);
  expect(kit.conversations.get(waiting.conversationId)).toMatchObject({ outcome: Outcome.OUTCOME_CANCELLED });

  const rings = await ringing(kit);
  await kit.hangUp(rings);
  await kit.pass(rings.ownerId, 3);
  expect(kit.carrier.hungUp).toEqual([rings.carrierCallId]);
  expect(await kit.get(rings)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_CANCELLED });

  const talks = await ringing(kit);
  await answered(kit, talks);
  await kit.hangUp(talks);
  expect(kit.signals).toContainEqual(
    expect.objectContaining({ conversationId: talks.conversationId, signal: "hang_up" }),
  );
  await kit.held.get(talks.conversationId)?.end({ durationSeconds: 3 });
  expect(await kit.hangUp(talks)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_SUCCESS });
});

test("hanging up again with the same idempotency key gets the first answer", async () => {
  const kit = outbound(db);
  const { ownerId, callId } = await ringing(kit);
  const idempotency = { key: "hang-up", fingerprint: Buffer.from("hang up") };
  const hangUp = async () => {
    const served = { replayed: false } as Served;
    const call = (await kit.handlers.hangUpCall?.({ ownerId, callId, idempotency }, served))?.call;
    return { call, replayed: served.replayed };
  };
  const first = await hangUp();
  await kit.pass(ownerId, 3);
  expect(await hangUp()).toEqual({ call: first.call, replayed: true });
  expect(await kit.get({ ownerId, callId })).toMatchObject({ status: ENDED });
});

test("a call without callbacks ends with the outcome that its carrier reports", async () => {
  const kit = outbound(db);
  const call = await ringing(kit, { ringSeconds: 20 });
  kit.carrier.end(THEIRS, "busy");
  await kit.pass(call.ownerId, 40);
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_BUSY });
});

test("a phone that its carrier leaves ringing is hung up", async () => {
  const kit = outbound(db);
  const call = await ringing(kit, { ringSeconds: 20 });
  await kit.pass(call.ownerId, 34);
  expect(kit.carrier.hungUp).toEqual([]);
  await kit.pass(call.ownerId, 8);
  expect(kit.carrier.hungUp).toEqual([call.carrierCallId]);
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_CANCELLED });
});

test.each([
  ["was disconnected", notFound("Carrier"), "Carrier not found"],
  ["refuses our credentials", new CarrierRefusal("20003", "Authenticate"), "Twilio 20003: Authenticate"],
])("a ringing call whose carrier %s fails and frees its place", async (_what, refusal, notes) => {
  const kit = outbound(db, { callsMax: 1 });
  const call = await ringing(kit, { ringSeconds: 20 });
  const carriersOf = kit.ctx.carriersOf;
  kit.ctx.carriersOf = () => Promise.reject(refusal);
  await kit.pass(call.ownerId, 40);
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_ERROR, notes });
  kit.ctx.carriersOf = carriersOf;
  await kit.create(call.ownerId);
  await kit.pass(call.ownerId, 3);
  expect(kit.carrier.rang).toHaveLength(2);
});

/** The carrier is being disconnected: its account is kept for what is left to do there. */
function disconnecting(kit: Outbound): void {
  kit.ctx.carriersOf = async (_ownerId, _carrierId, options) => {
    if (!options?.hangsUp) throw notFound("Carrier");
    return kit.carrier;
  };
}

test("a ringing call whose carrier is being disconnected stops ringing when its owner hangs up", async () => {
  const kit = outbound(db);
  const call = await ringing(kit);
  disconnecting(kit);
  await kit.hangUp(call);
  await kit.pass(call.ownerId, 10);
  expect(kit.carrier.hungUp).toEqual([call.carrierCallId]);
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_CANCELLED });
});

test("a call that may ring since its first attempt is hung up if its carrier is being disconnected before the next", async () => {
  const kit = outbound(db);
  kit.carrier.next(async (rings) => {
    rings();
    throw new CarrierUnavailable("the answer was lost");
  });
  const ownerId = newOwner();
  const call = { ownerId, ...(await kit.create(ownerId)) };
  await kit.work(ownerId);
  disconnecting(kit);
  await kit.pass(ownerId, 60);
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_ERROR });
  expect(kit.carrier.hungUp).toEqual(["CA1"]);
});

test("an answered call whose audio never arrives is hung up and fails", async () => {
  const kit = outbound(db);
  const call = await ringing(kit);
  await kit.callbacks.answer(call, { carrierCallId: call.carrierCallId, machine: null });
  await kit.pass(call.ownerId, 80);
  expect(kit.carrier.hungUp).toEqual([call.carrierCallId]);
  expect(await kit.get(call)).toMatchObject({
    status: ENDED,
    outcome: Outcome.OUTCOME_ERROR,
    notes: "The carrier did not connect the call's audio",
  });
});

test("a machine is hung up on, or hears the message from the process that holds the call", async () => {
  const kit = outbound(db);
  const early = await ringing(kit, { voicemail: Voicemail.VOICEMAIL_HANG_UP });
  expect(await answered(kit, early, true)).toBeNull();
  expect(await kit.get(early)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_NO_ANSWER });

  const late = await ringing(kit, { voicemail: Voicemail.VOICEMAIL_LEAVE_MESSAGE });
  await answered(kit, late);
  expect(kit.held.get(late.conversationId)?.request.leavesMessage).toBe(true);
  await kit.callbacks.report(late, { type: "answered", carrierCallId: late.carrierCallId, machine: true });
  await kit.callbacks.report(late, { type: "machine_ready", carrierCallId: late.carrierCallId });
  const told = kit.signals.filter(({ conversationId }) => conversationId === late.conversationId);
  expect(told.map(({ signal }) => signal)).toEqual(["machine_answered", "machine_ready"]);
});

test("the process that holds a call decides how it ended, whatever the carrier reports", async () => {
  const kit = outbound(db);
  const call = await ringing(kit);
  await answered(kit, call);
  const end = { how: "completed" as const, notes: null, durationSeconds: 9 };
  await kit.callbacks.report(call, { type: "ended", carrierCallId: call.carrierCallId, end });
  expect(await kit.get(call)).toMatchObject({ status: IN_PROGRESS });
  expect(kit.signals.at(-1)).toMatchObject({ signal: "carrier_ended" });
  await kit.held.get(call.conversationId)?.end({ outcome: "SUCCESS", notes: "Transferred to +14155550199" });
  expect(await kit.get(call)).toMatchObject({ outcome: Outcome.OUTCOME_SUCCESS, notes: "Transferred to +14155550199" });
});

test("a call whose process died before its conversation began gets its conversation", async () => {
  const kit = outbound(db);
  const call = await ringing(kit);
  await answered(kit, call);
  await kit.endLost(call, { completeConversation: () => Promise.reject(notFound("Conversation")) });
  await kit.work(call.ownerId);
  const notes = "The process that held this call stopped unexpectedly";
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_ERROR, notes });
  expect(kit.conversations.get(call.conversationId)).toMatchObject({ outcome: Outcome.OUTCOME_ERROR, notes });
});

test.each([
  ["", null],
  [" while its carrier is down", 3],
] as const)(
  "a call whose process vanishes right after the answer%s is hung up at its carrier",
  async (_when, downSeconds) => {
    const kit = outbound(db);
    const call = await ringing(kit);
    await answered(kit, call);
    kit.carrier.isDown = downSeconds !== null;
    await kit.endLost(call);
    await kit.work(call.ownerId);
    expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_ERROR });
    kit.carrier.isDown = false;
    await kit.pass(call.ownerId, downSeconds ?? 0);
    expect(kit.carrier.hungUp).toEqual([call.carrierCallId]);
  },
);

test("a call whose process vanishes during a transfer, or whose carrier is gone, is left alone", async () => {
  const kit = outbound(db);
  const transferred = await ringing(kit);
  await answered(kit, transferred);
  await storeFarEnd(db, transferred, null);
  await kit.endLost(transferred);
  await kit.work(transferred.ownerId);
  const gone = await ringing(kit);
  await answered(kit, gone);
  kit.ctx.carriersOf = () => Promise.reject(notFound("Carrier"));
  await kit.endLost(gone);
  await kit.work(gone.ownerId);
  expect(kit.carrier.hungUp).toEqual([]);
});

test("what a call was made with is forgotten once it has ended and its conversation has it", async () => {
  const kit = outbound(db);
  const given = { dynamicVariables: { name: "Ada" }, metadata: { source: "crm" } };
  const talking = await ringing(kit, given);
  const ended = await ringing(kit, given);
  const carrierEnd = { how: "busy" as const, notes: null, durationSeconds: null };
  await kit.callbacks.report(ended, { type: "ended", carrierCallId: ended.carrierCallId, end: carrierEnd });
  const forget = outboundCalls(kit.ctx).sweeps.find(({ name }) => name === "forget-given-variables");
  const sweep = async () => {
    kit.clock.advance(600_001);
    await forget?.run(kit.clock.now(), new AbortController().signal);
  };
  const variablesOf = async ({ callId }: { callId: string }) =>
    (await db`select dynamic_variables, metadata from outbound_calls where call_id = ${callId}`)[0];
  await sweep();
  // Its conversation is still to be completed.
  expect(await variablesOf(ended)).toEqual(given);
  await kit.work(ended.ownerId);
  expect(kit.conversations.get(ended.conversationId)?.started).toMatchObject(given);
  await sweep();
  expect(await variablesOf(ended)).toEqual({ dynamicVariables: {}, metadata: {} });
  expect(await variablesOf(talking)).toEqual(given);
});
