import { afterAll, expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { type CallBatchCounts, CallBatchSettings, CallBatchStatus } from "@parley/proto/parley/voice/v1/call_batch.ts";
import { CallBatchChange, CreateCallBatchRequest } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import { fullError } from "@parley/shared/domain/full";
import type { Job } from "@parley/shared/jobs/store";
import type { Call as Served } from "@parley/shared/rpc/call";
import { createTestDatabase } from "@parley/testkit/database";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { countingReads } from "@parley/testkit/statement-cost/reads";
import type { CarrierEnd } from "../../src/carriers/carrier.ts";
import type { OutboundContext } from "../../src/outbound/context.ts";
import { holdAnswered } from "../../src/outbound/hold-stream.ts";
import { outboundCalls } from "../../src/outbound/outbound.ts";
import { forgetRecordings } from "../../src/rpc/forget-recordings.ts";
import { LOOKED_AT_ONCE } from "../../src/store/call-batches.ts";
import { type Outbound, outbound, THEIRS } from "./kit.ts";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

const served = {} as Served;
const NUMBERS = [1, 2, 3, 4, 5].map((number) => `+1415555030${number}`);
const NOTHING: CallBatchCounts = {
  pending: 0,
  calling: 0,
  doNotCall: 0,
  success: 0,
  noAnswer: 0,
  busy: 0,
  cancelled: 0,
  hungUpEarly: 0,
  error: 0,
};

/** A batch of an owner, and what the test can do with it. */
async function batchOf(
  kit: Outbound,
  numbers = NUMBERS,
  settings: Partial<CallBatchSettings> = {},
  ownerId = newOwner(),
) {
  const calls = numbers.map((number) => ({ toMobileNumber: number, dynamicVariables: { number } }));
  const request = CreateCallBatchRequest.fromPartial({ ownerId, calls });
  const given = { ...CallBatchSettings.fromPartial({ agentId: "agt_1" }), ...settings };
  const created = (await kit.handlers.createCallBatch?.({ ...request, settings: given }, served))?.batch;
  const key = { ownerId, batchId: created?.batchId ?? "" };
  return {
    ...key,
    get: async () => (await kit.handlers.getCallBatch?.(key, served))?.batch,
    counts: async () => (await kit.handlers.getCallBatch?.(key, served))?.batch?.counts,
    change: (change: CallBatchChange) =>
      kit.handlers.changeCallBatch?.({ ...key, change, idempotency: undefined }, served),
    calls: async () =>
      (await kit.handlers.listCalls?.({ ...FILTER, ownerId, batchId: key.batchId }, served))?.calls ?? [],
  };
}

const FILTER = { page: { number: 1, size: 100 }, statuses: [], agentId: "", toMobileNumber: "" };

/** What the conversation service answers for an owner whose conversations have no more room. */
const FULL = fullError({ bytesMax: 1, what: "Your conversations", remedy: "keep them for fewer days" });

test.each(["TWILIO", "SIP"] as const)(
  "a batch over %s whose owner has become full keeps its numbers, asks calmly, and goes on by itself when there is room",
  async (provider) => {
    const kit = outbound(db, { callsPerSecond: 10 });
    kit.provider = provider;
    const batch = await batchOf(kit);
    const { checkAgent, startCall } = kit.ctx;
    let asked = 0;
    const refuse = async () => {
      asked++;
      throw FULL;
    };
    Object.assign(kit.ctx, { checkAgent: refuse, startCall: refuse });
    await kit.pass(batch.ownerId, 10 * 60);
    expect(asked).toBeGreaterThan(NUMBERS.length);
    expect(asked).toBeLessThanOrEqual(11 * NUMBERS.length);
    expect(await batch.counts()).toEqual({ ...NOTHING, pending: NUMBERS.length });
    expect(await batch.get()).toMatchObject({ status: CallBatchStatus.CALL_BATCH_STATUS_RUNNING });
    expect(await batch.calls()).toEqual([]);
    expect(await failure(batchOf(kit))).toMatchObject({ kind: "conflict", detail: FULL.detail });
    const { rang } = kit.carrier;
    expect(rang).toEqual([]);
    const dialTrunk: OutboundContext["dialTrunk"] = async ({ toMobileNumber }) => {
      rang.push(toMobileNumber);
      return {} as never;
    };
    Object.assign(kit.ctx, { checkAgent, startCall, dialTrunk });
    await kit.pass(batch.ownerId, 60);
    expect(rang.toSorted()).toEqual(NUMBERS);
    expect(await batch.counts()).toEqual({ ...NOTHING, calling: NUMBERS.length });
    expect(await attemptsOf(batch.ownerId)).toEqual(NUMBERS.map(() => 1));
  },
);

test("a batch is shown by its name, with which it may be told from others of its agent", async () => {
  const kit = outbound(db);
  const named = await batchOf(kit, NUMBERS, { name: "June renewals" });
  expect((await named.get())?.settings?.name).toBe("June renewals");
  expect((await (await batchOf(kit)).get())?.settings?.name).toBeUndefined();
  expect(await failure(batchOf(kit, NUMBERS, { name: " " }))).toMatchObject({ kind: "invalid", paths: ["name"] });
});

test("a single call of an owner that has become full fails with the reason", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  const single = { ownerId, ...(await kit.create(ownerId)) };
  kit.ctx.checkAgent = async () => {
    throw FULL;
  };
  await kit.work(ownerId);
  expect(await kit.get(single)).toMatchObject({ outcome: Outcome.OUTCOME_ERROR, notes: FULL.detail });
});

test("a call that is refused for want of room after its batch was cancelled is cancelled", async () => {
  const kit = outbound(db);
  const batch = await batchOf(kit, [THEIRS]);
  kit.ctx.checkAgent = async () => {
    await batch.change(CallBatchChange.CALL_BATCH_CHANGE_CANCEL);
    throw FULL;
  };
  await kit.work(batch.ownerId);
  expect(await batch.counts()).toEqual({ ...NOTHING, cancelled: 1 });
});

test("a number that its batch takes back after an attempt keeps its variables and its attempts", async () => {
  const kit = outbound(db, { callsPerSecond: 10 });
  const batch = await batchOf(kit, [THEIRS]);
  kit.carrier.isDown = true;
  await kit.work(batch.ownerId);
  await batch.change(CallBatchChange.CALL_BATCH_CHANGE_PAUSE);
  kit.carrier.isDown = false;
  await kit.pass(batch.ownerId, 5);
  expect(await batch.counts()).toEqual({ ...NOTHING, pending: 1 });
  await batch.change(CallBatchChange.CALL_BATCH_CHANGE_RESUME);
  await kit.pass(batch.ownerId, 5);
  expect(kit.carrier.rang).toEqual([THEIRS]);
  const calls = await db<{ dynamicVariables: unknown }[]>`
    select dynamic_variables from outbound_calls where owner_id = ${batch.ownerId} and status = 'RINGING'`;
  expect(calls.map(({ dynamicVariables }) => dynamicVariables)).toEqual([{ number: THEIRS }]);
  expect(await attemptsOf(batch.ownerId)).toEqual([1]);
});

async function attemptsOf(ownerId: string): Promise<number[]> {
  const rows = await db<{ attempts: number }[]>`select attempts from batch_calls where owner_id = ${ownerId}`;
  return rows.map(({ attempts }) => attempts);
}

/** The carrier reports how all calls that ring have ended. */
async function endAll(kit: Outbound, ownerId: string, how: CarrierEnd["how"]): Promise<void> {
  const ringing = await db<{ callId: string }[]>`
    select call_id from outbound_calls where owner_id = ${ownerId} and status = 'RINGING'`;
  for (const { callId } of ringing) {
    const end = { how, notes: null, durationSeconds: null };
    await kit.callbacks.report({ ownerId, callId }, { type: "ended", carrierCallId: "CA", end });
  }
}

test("a batch calls each number once, no more at a time than the owner may, and ends with its counts", async () => {
  const kit = outbound(db, { callsMax: 2, callsPerSecond: 10 });
  const batch = await batchOf(kit);
  expect(await batch.get()).toMatchObject({ status: CallBatchStatus.CALL_BATCH_STATUS_RUNNING, total: 5 });
  await kit.work(batch.ownerId);
  expect(await batch.counts()).toEqual({ ...NOTHING, pending: 3, calling: 2 });
  for (let round = 0; round < 3; round++) {
    await endAll(kit, batch.ownerId, "busy");
    await kit.pass(batch.ownerId, 1);
  }
  expect(kit.carrier.rang.toSorted()).toEqual(NUMBERS);
  expect(await batch.get()).toMatchObject({
    status: CallBatchStatus.CALL_BATCH_STATUS_ENDED,
    endedAt: expect.any(Date),
  });
  expect(await batch.counts()).toEqual({ ...NOTHING, busy: 5 });
  expect(new Set((await batch.calls()).map(({ toMobileNumber }) => toMobileNumber))).toEqual(new Set(NUMBERS));
  expect(kit.conversations.size).toBe(5);
});

test("a busy number is called again after its wait, as often as the batch allows", async () => {
  const kit = outbound(db, { callsPerSecond: 10 });
  const retries = { max: 2, afterMinutes: 5, on: [Outcome.OUTCOME_BUSY] };
  const batch = await batchOf(kit, [THEIRS], { retries });
  await kit.work(batch.ownerId);
  for (const rings of [1, 2, 3]) {
    expect(kit.carrier.rang).toHaveLength(rings);
    await endAll(kit, batch.ownerId, "busy");
    await kit.pass(batch.ownerId, 2);
    expect(kit.carrier.rang).toHaveLength(rings);
    kit.clock.advance(299_000);
    await kit.work(batch.ownerId);
  }
  expect(kit.carrier.rang).toHaveLength(3);
  expect(await batch.counts()).toEqual({ ...NOTHING, busy: 1 });
  const other = await batchOf(kit, [THEIRS], { retries });
  await kit.work(other.ownerId);
  await endAll(kit, other.ownerId, "no_answer");
  await kit.pass(other.ownerId, 2);
  expect(await other.get()).toMatchObject({ status: CallBatchStatus.CALL_BATCH_STATUS_ENDED });
});

test("a number whose call ended because a process died is called again if the batch says so", async () => {
  const kit = outbound(db, { callsPerSecond: 10 });
  const batch = await batchOf(kit, [THEIRS], {
    retries: { max: 1, afterMinutes: 5, on: [Outcome.OUTCOME_ERROR] },
  });
  await kit.work(batch.ownerId);
  const [call] = await batch.calls();
  if (!call) throw new Error("no call");
  const key = { ownerId: batch.ownerId, callId: call.callId };
  await kit.callbacks.answer(key, { carrierCallId: "CA", machine: null });
  await holdAnswered(kit.ctx, { ...key, carrierCallId: "CA" }, async () => ({}) as never);
  await kit.endLost({ ...key, conversationId: call.conversationId });
  await kit.work(batch.ownerId);
  expect(await batch.counts()).toEqual({ ...NOTHING, pending: 1 });
  kit.clock.advance(300_000);
  await kit.work(batch.ownerId);
  expect(kit.carrier.rang).toEqual([THEIRS, THEIRS]);
  await endAll(kit, batch.ownerId, "failed");
  await kit.pass(batch.ownerId, 301);
  expect(await batch.counts()).toEqual({ ...NOTHING, error: 1 });
  expect(await batch.get()).toMatchObject({ status: CallBatchStatus.CALL_BATCH_STATUS_ENDED });
});

test("numbers on the do-not-call list are skipped and counted, and refused for a single call", async () => {
  const kit = outbound(db, { callsPerSecond: 10 });
  const ownerId = newOwner();
  const denied = NUMBERS.slice(0, 2);
  for (const mobileNumber of denied) await kit.handlers.addDoNotCall?.({ ownerId, mobileNumber }, served);
  const batch = await batchOf(kit, NUMBERS, {}, ownerId);
  await kit.work(ownerId);
  await endAll(kit, ownerId, "no_answer");
  await kit.work(ownerId);
  expect(kit.carrier.rang).toEqual(NUMBERS.slice(2));
  expect(await batch.counts()).toEqual({ ...NOTHING, doNotCall: 2, noAnswer: 3 });
  const refused = await failure(kit.create(ownerId, { toMobileNumber: denied[0] ?? "" }));
  expect(refused).toMatchObject({ kind: "invalid", paths: ["to_mobile_number"] });
  const page = { number: 1, size: 10 };
  const list = await kit.handlers.listDoNotCall?.({ ownerId, page, search: "" }, served);
  expect(list?.numbers.map(({ mobileNumber }) => mobileNumber)).toEqual(denied);
  await kit.handlers.removeDoNotCall?.({ ownerId, mobileNumber: denied[0] ?? "" }, served);
  await kit.create(ownerId, { toMobileNumber: denied[0] ?? "" });
  // Another owner has a list of its own.
  await kit.create(newOwner(), { toMobileNumber: denied[1] ?? "" });
});

test("one run skips a thousand denied numbers, and none after the last number that it may call", async () => {
  const kit = outbound(db, { callsMax: 2, callsPerSecond: 10 });
  const ownerId = newOwner();
  const many = Array.from({ length: LOOKED_AT_ONCE + 20 }, (_, at) => `+1415${5_570_000 + at}`);
  await db`
    insert into do_not_call (owner_id, mobile_number, created_at)
    select ${ownerId}, number, now() from unnest(${many}::text[]) as number`;
  const [first, second, third] = NUMBERS as [string, string, string];
  const batch = await batchOf(kit, [...many.slice(0, -10), first, second, ...many.slice(-10), third], {}, ownerId);
  const { "call-batches": queue } = outboundCalls(kit.ctx).queues;
  const run = () => queue?.run({ ownerId, payload: { batchId: batch.batchId } } as Job, new AbortController().signal);
  expect(await run()).toEqual(kit.clock.now());
  expect(await batch.counts()).toEqual({ ...NOTHING, doNotCall: LOOKED_AT_ONCE, pending: 23 });
  await run();
  expect(await batch.counts()).toEqual({ ...NOTHING, doNotCall: LOOKED_AT_ONCE + 10, calling: 2, pending: 11 });
  await kit.work(ownerId);
  await endAll(kit, ownerId, "busy");
  await kit.work(ownerId);
  await endAll(kit, ownerId, "busy");
  await kit.work(ownerId);
  expect(kit.carrier.rang).toEqual([first, second, third]);
  expect(await batch.counts()).toEqual({ ...NOTHING, doNotCall: LOOKED_AT_ONCE + 20, busy: 3 });
});

test("a number that is put on the do-not-call list while its call waits is not called", async () => {
  const kit = outbound(db, { callsPerSecond: 1 });
  const [first, second, third] = NUMBERS as [string, string, string];
  const batch = await batchOf(kit, [first, second]);
  const { ownerId } = batch;
  await kit.work(ownerId);
  kit.clock.advance(1);
  const single = { ownerId, ...(await kit.create(ownerId, { toMobileNumber: third })) };
  for (const mobileNumber of [second, third]) await kit.handlers.addDoNotCall?.({ ownerId, mobileNumber }, served);
  await kit.pass(ownerId, 5);
  expect(kit.carrier.rang).toEqual([first]);
  expect(await batch.counts()).toEqual({ ...NOTHING, doNotCall: 1, calling: 1 });
  expect(await kit.get(single)).toMatchObject({
    outcome: Outcome.OUTCOME_CANCELLED,
    notes: "The number is on the do-not-call list",
  });
});

test("a call that still waits when its batch's window closes is made when it opens again", async () => {
  const kit = outbound(db, { callsPerSecond: 10 });
  // It is midnight by the clock.
  const batch = await batchOf(kit, [THEIRS], { window: { fromMinute: 0, toMinute: 1, timezone: "UTC" } });
  kit.carrier.isDown = true;
  await kit.pass(batch.ownerId, 62);
  kit.carrier.isDown = false;
  await kit.pass(batch.ownerId, 70);
  expect(kit.carrier.rang).toEqual([]);
  expect(await batch.counts()).toEqual({ ...NOTHING, pending: 1 });
  const notes = "The batch was paused or its window closed";
  expect(await batch.calls()).toMatchObject([{ outcome: Outcome.OUTCOME_CANCELLED, notes }]);
  kit.clock.advance(24 * 3_600_000 - 120_000);
  await kit.pass(batch.ownerId, 1);
  expect(kit.carrier.rang).toEqual([THEIRS]);
});

test("calls of a paused batch that wait in the queue are not made until it is resumed", async () => {
  const kit = outbound(db, { callsPerSecond: 1 });
  const batch = await batchOf(kit, NUMBERS.slice(0, 3));
  await kit.work(batch.ownerId);
  await batch.change(CallBatchChange.CALL_BATCH_CHANGE_PAUSE);
  await kit.pass(batch.ownerId, 5);
  expect(kit.carrier.rang).toHaveLength(1);
  expect(await batch.counts()).toEqual({ ...NOTHING, pending: 2, calling: 1 });
  await batch.change(CallBatchChange.CALL_BATCH_CHANGE_RESUME);
  await kit.pass(batch.ownerId, 5);
  expect(kit.carrier.rang.toSorted()).toEqual(NUMBERS.slice(0, 3));
});

test("a batch calls only within its window, and not before its start", async () => {
  const kit = outbound(db, { callsPerSecond: 10 });
  // It is midnight by the clock.
  const window = { fromMinute: 9 * 60, toMinute: 17 * 60, timezone: "UTC" };
  const batch = await batchOf(kit, [THEIRS], { window });
  const later = await batchOf(kit, [THEIRS], { startAt: new Date(kit.clock.now().getTime() + 10 * 3_600_000) });
  for (const each of [batch, later]) await kit.work(each.ownerId);
  kit.clock.advance(9 * 3_600_000 - 1_000);
  for (const each of [batch, later]) await kit.work(each.ownerId);
  expect(kit.carrier.rang).toHaveLength(0);
  for (const each of [batch, later]) await kit.pass(each.ownerId, 2);
  expect(kit.carrier.rang).toHaveLength(1);
  kit.clock.advance(3_600_000);
  await kit.work(later.ownerId);
  expect(kit.carrier.rang).toHaveLength(2);
});

test("a paused batch starts no further calls until it is resumed, and a cancelled one cannot be resumed", async () => {
  const kit = outbound(db, { callsMax: 1, callsPerSecond: 10 });
  const batch = await batchOf(kit);
  await kit.work(batch.ownerId);
  await batch.change(CallBatchChange.CALL_BATCH_CHANGE_PAUSE);
  await endAll(kit, batch.ownerId, "busy");
  await kit.pass(batch.ownerId, 3);
  expect(kit.carrier.rang).toHaveLength(1);
  await batch.change(CallBatchChange.CALL_BATCH_CHANGE_RESUME);
  await kit.pass(batch.ownerId, 1);
  expect(kit.carrier.rang).toHaveLength(2);
  await batch.change(CallBatchChange.CALL_BATCH_CHANGE_CANCEL);
  expect(await batch.counts()).toEqual({ ...NOTHING, busy: 1, calling: 1, cancelled: 3 });
  await endAll(kit, batch.ownerId, "busy");
  const resumed = failure(batch.change(CallBatchChange.CALL_BATCH_CHANGE_RESUME) ?? Promise.resolve());
  expect(await resumed).toMatchObject({ kind: "conflict", detail: expect.stringContaining("was cancelled") });
  await kit.pass(batch.ownerId, 20);
  expect(kit.carrier.rang).toHaveLength(2);
  expect(await batch.get()).toMatchObject({ status: CallBatchStatus.CALL_BATCH_STATUS_CANCELLED });
  expect(await batch.counts()).toEqual({ ...NOTHING, busy: 2, cancelled: 3 });
});

test("a change that is repeated with its idempotency key gets the first answer and changes nothing", async () => {
  const kit = outbound(db, { callsPerSecond: 10 });
  const { ownerId, batchId, get, change } = await batchOf(kit, [THEIRS]);
  const { CALL_BATCH_CHANGE_PAUSE: PAUSE, CALL_BATCH_CHANGE_RESUME: RESUME } = CallBatchChange;
  const idempotency = { key: "resume", fingerprint: Buffer.from("resume") };
  const resume = async () => {
    const call = { replayed: false } as Served;
    const changed = await kit.handlers.changeCallBatch?.({ ownerId, batchId, change: RESUME, idempotency }, call);
    return { status: changed?.batch?.status, replayed: call.replayed };
  };
  const { CALL_BATCH_STATUS_RUNNING: RUNNING, CALL_BATCH_STATUS_PAUSED: PAUSED } = CallBatchStatus;
  await change(PAUSE);
  expect(await resume()).toEqual({ status: RUNNING, replayed: false });
  await change(PAUSE);
  expect(await resume()).toEqual({ status: RUNNING, replayed: true });
  expect(await get()).toMatchObject({ status: PAUSED });
  await kit.work(ownerId);
  expect(kit.carrier.rang).toHaveLength(0);
});

test("a run of a batch does not read the numbers that it leaves waiting", async () => {
  const many = Array.from({ length: 3_000 }, (_, at) => `+1415${5_580_000 + at}`);
  const { ownerId, batchId, change } = await batchOf(outbound(db), many);
  await db`analyze batch_calls`;
  const { result, read } = await countingReads(db, "batch_calls", async (within) => {
    const { "call-batches": queue } = outboundCalls(outbound(within, { callsMax: 2 }).ctx).queues;
    await queue?.run({ ownerId, payload: { batchId } } as Job, new AbortController().signal);
    return within`select number from batch_calls where owner_id = ${ownerId} and status = 'CALLING' order by number`;
  });
  expect(result.map(({ number }) => number)).toEqual([1, 2]);
  expect(read).toBeLessThan(100);
  await change(CallBatchChange.CALL_BATCH_CHANGE_CANCEL);
});

test("an owner's single call waits behind no more of a batch than may be in progress", async () => {
  const kit = outbound(db, { callsMax: 3, callsPerSecond: 10 });
  const many = Array.from({ length: 10_000 }, (_, at) => `+1415${String(5_560_000 + at)}`);
  const batch = await batchOf(kit, many);
  await kit.work(batch.ownerId);
  const single = { ownerId: batch.ownerId, ...(await kit.create(batch.ownerId)) };
  await kit.pass(batch.ownerId, 1);
  await endAll(kit, batch.ownerId, "busy");
  await kit.pass(batch.ownerId, 1);
  expect(kit.carrier.rang).toContain(THEIRS);
  expect((await kit.get(single)).placedAt).toBeDate();
  await batch.change(CallBatchChange.CALL_BATCH_CHANGE_CANCEL);
});

test("calls are deleted with their conversations, and their batch keeps only its counts", async () => {
  const kit = outbound(db, { callsPerSecond: 10 });
  const batch = await batchOf(kit, NUMBERS.slice(0, 2));
  await kit.work(batch.ownerId);
  const waiting = await kit.create(batch.ownerId);
  await endAll(kit, batch.ownerId, "busy");
  await kit.work(batch.ownerId);
  const calls = await batch.calls();
  const forget = forgetRecordings({ db, remove: async () => {} });
  const [first, second] = calls.map(({ conversationId }) => conversationId) as [string, string];
  await forget({ ownerId: newOwner(), conversationIds: [first, second] }, served);
  expect(await batch.calls()).toHaveLength(2);
  await forget({ ownerId: batch.ownerId, conversationIds: [first, waiting.conversationId] }, served);
  expect((await batch.calls()).map(({ conversationId }) => conversationId)).toEqual([second]);
  expect(await kit.get({ ownerId: batch.ownerId, callId: waiting.callId })).toMatchObject({ callId: waiting.callId });
  const rows = await db<{ toMobileNumber: string }[]>`
    select to_mobile_number from batch_calls where owner_id = ${batch.ownerId} order by to_mobile_number`;
  expect(rows.map(({ toMobileNumber }) => toMobileNumber)).toEqual(["", calls[1]?.toMobileNumber ?? "none"]);
  expect(await batch.counts()).toEqual({ ...NOTHING, busy: 2 });
});

test("a batch with wrong numbers is refused, naming each", async () => {
  const kit = outbound(db);
  const refused = await failure(batchOf(kit, [THEIRS, "12", "+19005550123"]));
  expect(refused).toMatchObject({
    kind: "invalid",
    paths: ["calls.1.to_mobile_number", "calls.2.to_mobile_number"],
  });
  expect(await failure(batchOf(kit, []))).toMatchObject({ kind: "invalid", paths: ["calls"] });
  const retries = { max: 1, afterMinutes: 1, on: [Outcome.OUTCOME_SUCCESS] };
  expect(await failure(batchOf(kit, [THEIRS], { retries }))).toMatchObject({ paths: ["retries.on"] });
  const window = { fromMinute: 60, toMinute: 120, timezone: "Mars/Olympus" };
  expect(await failure(batchOf(kit, [THEIRS], { window }))).toMatchObject({ paths: ["window.timezone"] });
});

test("another owner's batch is not found", async () => {
  const kit = outbound(db);
  const { batchId } = await batchOf(kit, [THEIRS]);
  const foreign = { ownerId: newOwner(), batchId };
  expect(await failure(kit.handlers.getCallBatch?.(foreign, served) as Promise<unknown>)).toMatchObject({
    kind: "not_found",
  });
  const change = CallBatchChange.CALL_BATCH_CHANGE_CANCEL;
  expect(
    await failure(
      kit.handlers.changeCallBatch?.({ ...foreign, change, idempotency: undefined }, served) as Promise<unknown>,
    ),
  ).toMatchObject({
    kind: "not_found",
  });
});

test("a new batch makes room: the oldest ended ones go when newer ones have a million numbers", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  const other = newOwner();
  await storeOld(kit, ownerId, "bat_oldest", { total: 9_000, daysAgo: 4, isEnded: true });
  await storeOld(kit, ownerId, "bat_running", { total: 1, daysAgo: 4, isEnded: false });
  await storeOld(kit, ownerId, "bat_older", { total: 9_000, daysAgo: 3, isEnded: true });
  await storeOld(kit, ownerId, "bat_large", { total: 999_994, daysAgo: 2, isEnded: true });
  await storeOld(kit, other, "bat_oldest", { total: 9_000, daysAgo: 4, isEnded: true });
  await storeOld(kit, other, "bat_large", { total: 1_000_000, daysAgo: 2, isEnded: true });

  const first = await batchOf(kit, NUMBERS, {}, ownerId);
  expect(await batchIdsOf(ownerId)).toEqual([first.batchId, "bat_large", "bat_older", "bat_running"].sort());
  const second = await batchOf(kit, NUMBERS, {}, ownerId);
  expect(await batchIdsOf(ownerId)).toEqual([first.batchId, second.batchId, "bat_large", "bat_running"].sort());
  expect(await batchIdsOf(other)).toEqual(["bat_large", "bat_oldest"]);
});

async function storeOld(
  { clock }: Outbound,
  ownerId: string,
  batchId: string,
  { total, daysAgo, isEnded }: { total: number; daysAgo: number; isEnded: boolean },
): Promise<void> {
  const at = new Date(clock.now().getTime() - daysAgo * 24 * 60 * 60_000);
  await db`
    insert into call_batches (owner_id, batch_id, status, settings, carrier_id, provider, total, created_at, ended_at)
    values (${ownerId}, ${batchId}, ${isEnded ? "ENDED" : "PAUSED"}, '{}', 'car_1', 'TWILIO', ${total}, ${at}, ${isEnded ? at : null})`;
}

async function batchIdsOf(ownerId: string): Promise<string[]> {
  const rows = await db<{ batchId: string }[]>`select batch_id from call_batches where owner_id = ${ownerId}`;
  return rows.map(({ batchId }) => batchId).sort();
}
