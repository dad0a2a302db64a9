import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { makeDue } from "@parley/testkit/jobs";
import postgres from "postgres";
import { NO_OWNER, startTestAccount } from "./kit.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

const account = await startTestAccount();
afterAll(() => account.stop());

const claim = (key: string, request: string, ownerId = NO_OWNER) =>
  account.client.claimIdempotencyKey({ ownerId, idempotency: { key, fingerprint: Buffer.from(request) } });
const REFUSED = { kind: "invalid", violations: [{ path: "Idempotency-Key" }] };

test("when many requests claim a key at once, one gets it, however often it asks", async () => {
  const requests = Array.from({ length: 40 }, (_, at) => `request ${at % 4}`);
  const outcomes = await Promise.all(
    requests.map((request) =>
      claim("raced", request).then(
        () => request,
        () => null,
      ),
    ),
  );
  const winners = outcomes.filter((request) => request !== null);
  expect(winners).toHaveLength(10);
  expect(new Set(winners).size).toBe(1);
});

test("a key belongs to its first request for 24 hours, repeated or not, and is free afterwards", async () => {
  await claim("kept", "first");
  account.clock.advance(DAY_MS - 1);
  await claim("kept", "first");
  expect(await failureOf(claim("kept", "second"))).toMatchObject(REFUSED);
  account.clock.advance(1);
  await claim("kept", "second");
  expect(await failureOf(claim("kept", "first"))).toMatchObject(REFUSED);
});

test("owners do not share keys", async () => {
  await claim("mine", "first");
  await claim("mine", "second", NO_OWNER.replace(/0$/, "1"));
});

test("claims are deleted a day after their request", async () => {
  for (let at = 0; at < 12; at++) await claim(`old ${at}`, "request");
  account.clock.advance(DAY_MS + 1);
  await claim("new", "request");
  const admin = postgres(account.database.urls.account, { max: 1 });
  await makeDue(admin, "delete-expired-keys");
  await eventually(async () =>
    expect([...(await admin`select idempotency_key from idempotency_claims`)]).toEqual([{ idempotency_key: "new" }]),
  );
  await admin.end();
});
