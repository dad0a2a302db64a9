import { expect, test } from "bun:test";
import { byteShares } from "@parley/shared/shares/byte-shares";
import { createPace } from "@parley/shared/shares/pace";
import { failureOf } from "@parley/shared/testing/failures";
import { createBodyShares } from "../src/http/body-shares.ts";

const KIB = 1024;
const REFUSED = { kind: "rate_limited" };

function bodyShares({ atOnce = 10_000 * KIB, perSecond = 1 } = {}) {
  const shares = byteShares({ what: "large requests", totalBytes: 300 * KIB, ownerBytes: 200 * KIB, waitingMax: 0 });
  return createBodyShares({ shares, pace: createPace({ atOnce, perSecond, waitMaxMs: 0 }) });
}

function sent(bytes?: number): Request {
  const headers = bytes === undefined ? undefined : { "Content-Length": String(bytes) };
  return new Request("http://gateway/", { method: "POST", ...(headers && { headers }) });
}

test("an owner's long bodies take its share and nobody else's, until their requests are answered", async () => {
  const bodies = bodyShares();
  const enter = (ownerId: string, bytes: number) => bodies.enter(ownerId, sent(bytes), 1_000 * KIB);
  const first = enter("own_1", 200 * KIB);
  await first.ready;
  expect(await failureOf(enter("own_1", 100 * KIB).ready)).toMatchObject(REFUSED);
  await enter("own_1", 16 * KIB).ready;
  await enter("own_2", 100 * KIB).ready;
  first.release();
  await enter("own_1", 100 * KIB).ready;
});

test("a body of unknown length counts as the longest once it is long, and as itself once it has arrived", async () => {
  const bodies = bodyShares();
  const unknown = bodies.enter("own_1", sent(), 200 * KIB);
  await unknown.ready;
  expect(unknown.arrived(16 * KIB)).toBeNull();
  const short = bodies.enter("own_1", sent(100 * KIB), 200 * KIB);
  await short.ready;
  short.release();
  await unknown.arrived(17 * KIB);
  expect(unknown.arrived(34 * KIB)).toBeNull();
  expect(await failureOf(bodies.enter("own_1", sent(100 * KIB), 200 * KIB).ready)).toMatchObject(REFUSED);
  unknown.received(34 * KIB);
  await bodies.enter("own_1", sent(100 * KIB), 200 * KIB).ready;
});

test("an owner's long bodies have a pace, which holds up nobody else's", async () => {
  const bodies = bodyShares({ atOnce: 100 * KIB });
  const enter = (ownerId: string, bytes?: number) => bodies.enter(ownerId, sent(bytes), 150 * KIB);
  const unknown = enter("own_1");
  await unknown.arrived(17 * KIB);
  // It was expected to be longer.
  unknown.received(20 * KIB);
  unknown.release();
  const second = enter("own_1", 120 * KIB);
  await second.ready;
  second.release();
  expect(await failureOf(enter("own_1", 20 * KIB).ready)).toMatchObject(REFUSED);
  await enter("own_1", 16 * KIB).ready;
  await enter("own_2", 20 * KIB).ready;
});

test("with 16 bodies of unknown length on their way, an owner's next one counts as the longest until one has arrived", async () => {
  const bodies = bodyShares();
  const enter = (ownerId = "own_1") => bodies.enter(ownerId, sent(), 250 * KIB);
  const unread = Array.from({ length: 16 }, () => enter());
  await Promise.all(unread.map(({ ready }) => ready));
  const long = bodies.enter("own_1", sent(20 * KIB), 250 * KIB);
  await long.ready;
  expect(await failureOf(enter().ready)).toMatchObject(REFUSED);
  await enter("own_2").ready;
  unread[0]?.received(KIB);
  unread[0]?.release();
  await enter().ready;
  expect(await failureOf(enter().ready)).toMatchObject(REFUSED);
  unread[1]?.release();
  await enter().ready;
});

test("a request that was answered before its body found room leaves none taken", async () => {
  const bodies = bodyShares();
  const left = bodies.enter("own_1", sent(200 * KIB), 200 * KIB);
  left.release();
  await left.ready;
  await bodies.enter("own_1", sent(200 * KIB), 200 * KIB).ready;
});
