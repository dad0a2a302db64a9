import { afterAll, expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { CallStatus } from "@parley/proto/parley/voice/v1/call.ts";
import { openDatabase } from "@parley/shared/db/database";
import { notFound } from "@parley/shared/errors";
import type { Call as Served } from "@parley/shared/rpc/call";
import { createTestDatabase } from "@parley/testkit/database";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { CarrierRefusal, CarrierUnavailable } from "../../src/carriers/carrier.ts";
import { addDoNotCall } from "../../src/rpc/add-do-not-call.ts";
import { answered, outbound, ringing, THEIRS } from "./kit.ts";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

const QUEUED = CallStatus.CALL_STATUS_QUEUED;
const RINGING = CallStatus.CALL_STATUS_RINGING;
const IN_PROGRESS = CallStatus.CALL_STATUS_IN_PROGRESS;
const ENDED = CallStatus.CALL_STATUS_ENDED;

test("a call is durable before its carrier is asked, then rings, is answered and ends with its conversation", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  const created = await kit.create(ownerId, { isTestCall: true });
  expect(created).toMatchObject({ status: QUEUED, isTestCall: true, toMobileNumber: THEIRS });
  expect(kit.carrier.rang).toEqual([]);
  await kit.work(ownerId);
  const call = { ownerId, ...created, carrierCallId: "CA1" };
  expect(await kit.get(call)).toMatchObject({ status: RINGING, placedAt: kit.clock.now() });
  kit.clock.advance(5_000);
  expect(await answered(kit, call)).toEqual({ url: `wss://voice.example.com/media/${call.callId}` });
  expect(await kit.get(call)).toMatchObject({ status: IN_PROGRESS, answeredAt: kit.clock.now() });
  expect(kit.held.get(call.conversationId)?.request).toMatchObject({
    maxDurationSeconds: 3_600,
    channel: { type: "TELEPHONY", callingType: "OUTBOUND", toMobileNumber: THEIRS, telephonyProvider: "TWILIO" },
  });
  await kit.held.get(call.conversationId)?.end({ durationSeconds: 42 });
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_SUCCESS, durationSeconds: 42 });
  await kit.pass(ownerId, 60);
  // The process that held the call completes its conversation.
  expect(kit.conversations.size).toBe(0);
});

test("a crash between the carrier's answer and ours does not ring twice: the carrier is asked first", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  const call = { ownerId, ...(await kit.create(ownerId)) };
  // The process dies when the phone rings.
  kit.carrier.next(async (rings) => {
    rings();
    return new Promise(() => {});
  });
  void kit.work(ownerId);
  while (kit.carrier.rang.length === 0) await new Promise((resolve) => setImmediate(resolve));
  await kit.pass(ownerId, 60);
  expect(kit.carrier.rang).toEqual([THEIRS]);
  expect(await kit.get(call)).toMatchObject({ status: RINGING });
});

test.each([
  ["is refused", new CarrierRefusal("21215", "Geo permissions")],
  ["finds no carrier", notFound("Carrier")],
])("an attempt that another process has overtaken, and that then %s, leaves the call alone", async (_how, error) => {
  const kit = outbound(db);
  const ownerId = newOwner();
  const call = { ownerId, ...(await kit.create(ownerId)) };
  const frozen = Promise.withResolvers<never>();
  const asked = Promise.withResolvers<void>();
  kit.carrier.next(() => {
    asked.resolve();
    return frozen.promise;
  });
  const overtaken = kit.work(ownerId);
  await asked.promise;
  await kit.pass(ownerId, 30);
  expect(await kit.get(call)).toMatchObject({ status: RINGING });
  frozen.reject(error);
  await overtaken;
  expect(await kit.get(call)).toMatchObject({ status: RINGING });
  expect(kit.carrier.rang).toEqual([THEIRS]);
});

test("a request with an unknown outcome is looked up before it is repeated, and repeated only if the carrier knows no call", async () => {
  const kit = outbound(db);
  kit.carrier.next(async (rings) => {
    rings();
    throw new CarrierUnavailable("timed out");
  });
  const rang = await ringing(kit);
  expect(await kit.get(rang)).toMatchObject({ status: QUEUED });
  await kit.pass(rang.ownerId, 5);
  expect(await kit.get(rang)).toMatchObject({ status: RINGING });
  expect(kit.carrier.rang).toHaveLength(1);

  kit.carrier.next(async () => {
    throw new CarrierUnavailable("connection refused");
  });
  const refused = await ringing(kit);
  await kit.pass(refused.ownerId, 5);
  expect(await kit.get(refused)).toMatchObject({ status: RINGING });
  expect(kit.carrier.rang).toHaveLength(2);
});

test("a carrier's refusal ends the call with the carrier's own code", async () => {
  const kit = outbound(db);
  kit.carrier.next(async () => {
    throw new CarrierRefusal("21215", "Geo permissions");
  });
  const call = await ringing(kit);
  expect(await kit.get(call)).toMatchObject({
    status: ENDED,
    outcome: Outcome.OUTCOME_ERROR,
    notes: "Twilio 21215: Geo permissions",
  });
});

test("while a carrier is down, its calls wait in order and fail after an hour", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  kit.carrier.isDown = true;
  const first = { ownerId, ...(await kit.create(ownerId, { toMobileNumber: "+14155550001" })) };
  kit.clock.advance(1);
  await kit.create(ownerId, { toMobileNumber: "+14155550002" });
  await kit.pass(ownerId, 30);
  expect(await kit.get(first)).toMatchObject({ status: QUEUED });
  kit.carrier.isDown = false;
  await kit.pass(ownerId, 70);
  expect(kit.carrier.rang.toSorted()).toEqual(["+14155550001", "+14155550002"]);

  const other = newOwner();
  kit.carrier.isDown = true;
  const call = { ownerId: other, ...(await kit.create(other)) };
  await kit.work(other);
  kit.clock.advance(3_600_001);
  await kit.pass(other, 2);
  expect(await kit.get(call)).toMatchObject({
    status: ENDED,
    outcome: Outcome.OUTCOME_ERROR,
    notes: "The carrier could not be reached for an hour",
  });
});

test("a call whose last attempt had no answer within the hour is hung up, because its phone may ring", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  kit.carrier.isDown = true;
  const call = { ownerId, ...(await kit.create(ownerId)) };
  await kit.work(ownerId);
  kit.clock.advance(3_600_001);
  kit.carrier.isDown = false;
  kit.carrier.next(async (rings) => {
    rings();
    throw new CarrierUnavailable("timed out");
  });
  await kit.work(ownerId);
  expect(await kit.get(call)).toMatchObject({ status: ENDED, outcome: Outcome.OUTCOME_ERROR });
  await kit.pass(ownerId, 30);
  expect(kit.carrier.hungUp).toEqual(["CA1"]);
});

test("calls of one carrier account are placed in order, at its rate, and no more than the owner may have", async () => {
  const kit = outbound(db, { callsMax: 3 });
  const ownerId = newOwner();
  const numbers = [1, 2, 3, 4, 5].map((number) => `+1415555020${number}`);
  const calls = [];
  for (const toMobileNumber of numbers) {
    calls.push({ ownerId, ...(await kit.create(ownerId, { toMobileNumber })) });
    kit.clock.advance(1);
  }
  await kit.work(ownerId);
  expect(kit.carrier.rang).toEqual(numbers.slice(0, 1));
  await kit.pass(ownerId, 1);
  expect(kit.carrier.rang).toEqual(numbers.slice(0, 2));
  await kit.pass(ownerId, 10);
  expect(kit.carrier.rang).toEqual(numbers.slice(0, 3));
  const [, second] = calls;
  if (second)
    await kit.callbacks.report(second, {
      type: "ended",
      carrierCallId: "CA2",
      end: { how: "busy", notes: null, durationSeconds: null },
    });
  await kit.pass(ownerId, 1);
  expect(kit.carrier.rang).toEqual(numbers.slice(0, 4));
});

test("a call that waits for an hour fails without having rung", async () => {
  const kit = outbound(db, { callsMax: 1 });
  const ownerId = newOwner();
  const long = { ownerId, ...(await kit.create(ownerId, { maxDurationSeconds: 14_400 })), carrierCallId: "CA1" };
  await kit.work(ownerId);
  await answered(kit, long);
  const waiting = { ownerId, ...(await kit.create(ownerId)) };
  await kit.pass(ownerId, 5);
  expect(await kit.get(waiting)).toMatchObject({ status: QUEUED });
  kit.clock.advance(3_600_000);
  await kit.pass(ownerId, 3);
  expect(await kit.get(waiting)).toMatchObject({ status: ENDED, notes: "The call waited in the queue for an hour" });
  expect(kit.carrier.rang).toHaveLength(1);
  expect(kit.conversations.get(waiting.conversationId)).toMatchObject({ outcome: Outcome.OUTCOME_ERROR });
});

test.each([
  ["to_mobile_number", { toMobileNumber: "4155550123" }, "E.164"],
  ["to_mobile_number", { toMobileNumber: "+19995550123" }, "agents may not call numbers that begin with +1999"],
  ["to_mobile_number", { toMobileNumber: "+19005550123" }, "agents may not call premium-rate numbers"],
  ["to_mobile_number", { toMobileNumber: "+449091234567" }, "premium-rate"],
  ["to_mobile_number", { toMobileNumber: "+44909123456789" }, "no numbers of this length"],
  ["to_mobile_number", { toMobileNumber: "+881612345678" }, "+881"],
  ["from_mobile_number", { fromMobileNumber: "+14155550999" }, "not one of your numbers with a connected carrier"],
  ["max_duration_seconds", { maxDurationSeconds: 9 }, "from 10 to 14400"],
  ["ring_seconds", { ringSeconds: 121 }, "from 5 to 120"],
] as const)("a call with a wrong %s is refused: %j", async (path, given, words) => {
  const kit = outbound(db);
  const refused = await failure(kit.create(newOwner(), given));
  expect(refused).toMatchObject({ kind: "invalid", paths: [path] });
  expect(refused.detail).toContain(words);
});

test("a call of an agent that cannot speak is refused, and an agent that is gone when its call's turn comes fails it", async () => {
  const kit = outbound(db);
  expect(await failure(kit.create(newOwner(), { agentId: "agt_mute" }))).toMatchObject({ kind: "condition" });
  const ownerId = newOwner();
  const call = { ownerId, ...(await kit.create(ownerId)) };
  await db`update outbound_calls set agent_id = 'agt_mute' where call_id = ${call.callId}`;
  await kit.work(ownerId);
  expect(kit.carrier.rang).toEqual([]);
  expect(await kit.get(call)).toMatchObject({ status: ENDED, notes: "Agent has no TTS configuration: set tts" });
});

test("a call whose agent is deleted while it waits rings nobody, and its conversation ends with it", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  const call = { ownerId, ...(await kit.create(ownerId)) };
  await db`update outbound_calls set agent_id = 'agt_gone' where call_id = ${call.callId}`;
  await kit.work(ownerId);
  expect(kit.carrier.rang).toEqual([]);
  expect(await kit.get(call)).toMatchObject({
    status: ENDED,
    outcome: Outcome.OUTCOME_ERROR,
    notes: "Agent not found",
  });
  expect(kit.conversations.get(call.conversationId)).toMatchObject({
    outcome: Outcome.OUTCOME_ERROR,
    notes: "Agent not found",
  });
});

test("a full queue refuses further calls of its owner and accepts those of others", async () => {
  const kit = outbound(db, { queuedMax: 2 });
  const ownerId = newOwner();
  await kit.create(ownerId);
  await kit.create(ownerId);
  expect(await failure(kit.create(ownerId))).toMatchObject({ kind: "unavailable" });
  await kit.create(newOwner());
});

test("a request that is repeated with its idempotency key makes one call", async () => {
  const kit = outbound(db);
  const ownerId = newOwner();
  const idempotency = { key: "k", fingerprint: Buffer.alloc(32) };
  const first = await kit.create(ownerId, { idempotency });
  expect(await kit.create(ownerId, { idempotency })).toEqual(first);
  await kit.pass(ownerId, 3);
  expect(kit.carrier.rang).toHaveLength(1);
});

test("another owner's call is not found", async () => {
  const kit = outbound(db);
  const { callId } = await ringing(kit);
  const foreign = { ownerId: newOwner(), callId };
  expect(await failure(kit.get(foreign))).toMatchObject({ kind: "not_found" });
  expect(await failure(kit.hangUp(foreign))).toMatchObject({ kind: "not_found" });
  expect(await failure(kit.get({ ...foreign, callId: "call_1" }))).toMatchObject({ kind: "not_found" });
});

const served = {} as Served;

test("the do-not-call list finds a number or all that begin with some digits, page by page", async () => {
  const kit = outbound(db, {});
  const ownerId = newOwner();
  const all = ["+14155550100", "+14155550101", "+14155550109", "+141555501", "+4915112345678"];
  for (const mobileNumber of all) await kit.handlers.addDoNotCall?.({ ownerId, mobileNumber }, served);
  await kit.handlers.addDoNotCall?.({ ownerId: newOwner(), mobileNumber: "+14155550105" }, served);
  const find = async (search: string, page = { number: 1, size: 10 }) => {
    const found = await kit.handlers.listDoNotCall?.({ ownerId, page, search }, served);
    return [found?.numbers?.map(({ mobileNumber }) => mobileNumber), found?.total];
  };
  const begun = ["+141555501", "+14155550100", "+14155550101", "+14155550109"];
  expect(await find("+14155550101")).toEqual([["+14155550101"], 1]);
  expect(await find("+141555501")).toEqual([begun, 4]);
  expect(await find(" 1 (415) 555-01")).toEqual([begun, 4]);
  expect(await find("+1415", { number: 2, size: 3 })).toEqual([["+14155550109"], 4]);
  expect(await find("491")).toEqual([["+4915112345678"], 1]);
  expect(await find("")).toEqual([[...begun, "+4915112345678"], 5]);
  expect(await find("+1416")).toEqual([[], 0]);
  for (const wrong of ["Ada", "+", "0151", "1".repeat(16), "%", "+1_"])
    expect(await failure(find(wrong))).toMatchObject({ kind: "invalid", paths: ["search"] });
});

test("a number that is on a full list can be added again, and another one is refused", async () => {
  const add = addDoNotCall(outbound(db, {}).ctx, 2);
  const ownerId = newOwner();
  const [first, second] = ["+14155550100", "+14155550101"];
  const added = await add({ ownerId, mobileNumber: first }, served);
  await add({ ownerId, mobileNumber: second }, served);
  expect(await add({ ownerId, mobileNumber: first }, served)).toEqual(added);
  expect(await failure(add({ ownerId, mobileNumber: "+14155550102" }, served) as Promise<unknown>)).toMatchObject({
    kind: "condition",
  });
});

test.each([
  ["rejects", "reject", Outcome.OUTCOME_CANCELLED, "The agent's start webhook rejected the call"],
  ["lets nobody begin", "fail", Outcome.OUTCOME_ERROR, "The start webhook failed"],
] as const)("a call that its start webhook %s rings nobody's phone, and ends", async (_what, start, outcome, notes) => {
  const kit = outbound(db);
  Object.assign(kit, { startWebhookMs: 3_000, start });
  const ownerId = newOwner();
  const created = await kit.create(ownerId);
  await kit.pass(ownerId, 5);
  expect(kit.carrier.rang).toEqual([]);
  expect(await kit.get({ ownerId, ...created })).toMatchObject({ status: ENDED, outcome, notes });
  expect(kit.conversations.get(created.conversationId)).toMatchObject({ outcome, notes });
});
