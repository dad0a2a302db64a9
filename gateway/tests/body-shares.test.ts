import { expect, test } from "bun:test";
import { failureOf } from "@parley/shared/testing/failures";
import { createBodyShares } from "../src/http/body-shares.ts";

const KIB = 1024;
const SETTINGS = { what: "large requests", totalBytes: 300 * KIB, ownerBytes: 200 * KIB, waitingMax: 0 };

function sent(bytes?: number): Request {
  const headers = bytes === undefined ? undefined : { "Content-Length": String(bytes) };
  return new Request("http://gateway/", { method: "POST", ...(headers && { headers }) });
}

test("an owner's long bodies take its share and nobody else's, until their requests are answered", async () => {
  const bodies = createBodyShares(SETTINGS);
  const first = await bodies.hold("own_1", sent(200 * KIB), 1_000 * KIB);
  expect(await failureOf(bodies.hold("own_1", sent(100 * KIB), 1_000 * KIB))).toMatchObject({ kind: "rate_limited" });
  const other = await bodies.hold("own_2", sent(100 * KIB), 1_000 * KIB);
  expect(other).not.toBeNull();
  first?.release();
  expect(await bodies.hold("own_1", sent(100 * KIB), 1_000 * KIB)).not.toBeNull();
});

test("a body of unknown length counts as the longest, and a short one not at all", async () => {
  const bodies = createBodyShares(SETTINGS);
  expect(await bodies.hold("own_1", sent(16 * KIB), 1_000 * KIB)).toBeNull();
  expect(await bodies.hold("own_1", sent(), 200 * KIB)).not.toBeNull();
  expect(await failureOf(bodies.hold("own_1", sent(100 * KIB), 1_000 * KIB))).toMatchObject({ kind: "rate_limited" });
  expect(await bodies.hold("own_1", sent(16 * KIB), 1_000 * KIB)).toBeNull();
});
