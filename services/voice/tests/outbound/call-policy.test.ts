import { afterAll, expect, test } from "bun:test";
import { Outcome } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { CallBatchSettings } from "@parley/proto/parley/voice/v1/call_batch.ts";
import { CreateCallBatchRequest } from "@parley/proto/parley/voice/v1/voice_service.ts";
import { openDatabase } from "@parley/shared/db/database";
import { silentLogger } from "@parley/shared/log";
import type { Call as Served } from "@parley/shared/rpc/call";
import { createTestDatabase } from "@parley/testkit/database";
import { failure, failureOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { callPolicies, countryFault } from "../../src/outbound/call-policy.ts";
import { outbound } from "./kit.ts";

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.voice, name: "test" });
afterAll(async () => {
  await db.end();
  await database.drop();
});

const served = {} as Served;
const [US, US_TOO, FR] = ["+14155550123", "+14155550124", "+33123456789"];

/** Outbound calls of owners with a policy, which a test may change. */
function limited(given: { countries?: string[]; callsPerDay?: number; minutesPerDay?: number } = {}) {
  const kit = outbound(db, { callsPerSecond: 10 });
  const policy = { countries: ["US"], callsPerDay: 100, minutesPerDay: 100, ...given };
  const policies = callPolicies({ db, clock: kit.clock, log: silentLogger, policyOf: async () => policy });
  kit.ctx.policies = policies;
  return { kit, policy, policies };
}

async function batch(kit: ReturnType<typeof outbound>, ownerId: string, ...numbers: string[]) {
  const calls = numbers.map((toMobileNumber) => ({ toMobileNumber }));
  const request = CreateCallBatchRequest.fromPartial({ ownerId, calls });
  const settings = CallBatchSettings.fromPartial({ agentId: "agt_1" });
  return (await kit.handlers.createCallBatch?.({ ...request, settings }, served))?.batch;
}

test.each([
  [US, ["US"], true],
  ["+18765551234", ["US"], false],
  ["+18005550123", ["US"], true],
  ["+18005550123", ["DE"], false],
  [FR, ["US", "FR"], true],
  [FR, ["US"], false],
  [FR, [], false],
])("%s may be called if %j may: %p", (number, countries, mayBe) => {
  expect(countryFault(number, { countries }) === null).toBe(mayBe);
});

test("a number of a country that the owner's agents may not call is refused, alone and in a batch", async () => {
  const { kit } = limited();
  const ownerId = newOwner();
  expect(await failureOf(kit.create(ownerId, { toMobileNumber: FR }))).toMatchObject({
    kind: "invalid",
    detail: expect.stringContaining("it is a number of FR, and only numbers of US may be called"),
  });
  expect(await failure(batch(kit, ownerId, US, FR))).toMatchObject({ paths: ["calls.1.to_mobile_number"] });
  await kit.create(ownerId, { toMobileNumber: US });
});

test("a call that waits when its country is no longer allowed is cancelled with the reason", async () => {
  const { kit, policy } = limited();
  const ownerId = newOwner();
  const call = { ownerId, ...(await kit.create(ownerId, { toMobileNumber: US })) };
  policy.countries = ["DE"];
  await kit.work(ownerId);
  expect(kit.carrier.rang).toEqual([]);
  expect(await kit.get(call)).toMatchObject({
    outcome: Outcome.OUTCOME_CANCELLED,
    notes: expect.stringContaining("only numbers of DE may be called"),
  });
});

test("after the day's calls a single call is refused, and a batch goes on the next day", async () => {
  const { kit } = limited({ callsPerDay: 1 });
  const ownerId = newOwner();
  await batch(kit, ownerId, US, US_TOO);
  await kit.pass(ownerId, 30);
  expect(kit.carrier.rang).toHaveLength(1);
  expect(await failureOf(kit.create(ownerId, { toMobileNumber: US }))).toMatchObject({
    kind: "rate_limited",
    detail: expect.stringContaining("1 calls of the UTC day"),
  });
  kit.clock.advance(24 * 60 * 60_000);
  await kit.work(ownerId);
  expect(kit.carrier.rang).toHaveLength(2);
});

test("after the day's minutes nobody more is called", async () => {
  const { kit } = limited({ minutesPerDay: 1 });
  const ownerId = newOwner();
  const call = { ownerId, ...(await kit.create(ownerId, { toMobileNumber: US })) };
  await kit.work(ownerId);
  await kit.callbacks.answer(call, { carrierCallId: "CA", machine: null });
  const end = { how: "completed", notes: null, durationSeconds: 61 } as const;
  await kit.callbacks.report(call, { type: "ended", carrierCallId: "CA", end });
  expect(await failureOf(kit.create(ownerId, { toMobileNumber: US }))).toMatchObject({ kind: "rate_limited" });
});

test("a transfer whose end is known counts what it has lasted beyond that half hour, too", async () => {
  const { policies } = limited({ minutesPerDay: 60 });
  const ownerId = newOwner();
  await policies.transferring(ownerId, US);
  await policies.transferred(ownerId, 20 * 60);
  await policies.transferring(ownerId, US);
  const other = newOwner();
  await policies.transferring(other, US);
  await policies.transferred(other, 61 * 60);
  expect(await failureOf(policies.transferring(other, US))).toMatchObject({ kind: "condition" });
});

test("a transfer obeys the same policy, and counts as a call of half an hour", async () => {
  const { policies } = limited({ callsPerDay: 3, minutesPerDay: 60 });
  const ownerId = newOwner();
  expect(await failureOf(policies.transferring(ownerId, FR))).toMatchObject({ kind: "condition" });
  await policies.transferring(ownerId, US);
  await policies.transferring(ownerId, US);
  expect(await failureOf(policies.transferring(ownerId, US))).toMatchObject({
    kind: "condition",
    detail: expect.stringContaining("60 minutes of calls"),
  });
});
