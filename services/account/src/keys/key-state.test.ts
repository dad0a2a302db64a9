import { expect, test } from "bun:test";
import { KeyStatus } from "@parley/proto/parley/account/v1/account.ts";
import { checkActivation, checkExpiry, keyStatus } from "./key-state.ts";

const NOW = new Date("2026-01-01T00:00:00.000Z");
const EARLIER = new Date(NOW.getTime() - 1);
const LATER = new Date(NOW.getTime() + 1);
const { KEY_STATUS_ACTIVE, KEY_STATUS_INACTIVE, KEY_STATUS_EXPIRED } = KeyStatus;

test.each<[boolean, Date | null, KeyStatus]>([
  [true, null, KEY_STATUS_ACTIVE],
  [true, LATER, KEY_STATUS_ACTIVE],
  [true, NOW, KEY_STATUS_EXPIRED],
  [true, EARLIER, KEY_STATUS_EXPIRED],
  [false, null, KEY_STATUS_INACTIVE],
  [false, LATER, KEY_STATUS_INACTIVE],
  [false, EARLIER, KEY_STATUS_INACTIVE],
])("active %p, expires at %p: status %d", (active, expiresAt, status) => {
  expect(keyStatus({ active, expiresAt }, NOW)).toBe(status);
});

test("a key that could never be used is refused", () => {
  for (const expiresAt of [NOW, EARLIER, new Date(Number.NaN), new Date(8.64e15)]) {
    expect(() => checkExpiry(expiresAt, NOW)).toThrow(/^expires_at must be /);
  }
  expect(() => checkExpiry(LATER, NOW)).not.toThrow();
});

test("a key can be activated again unless it has expired", () => {
  for (const expiresAt of [null, LATER]) expect(() => checkActivation({ active: false, expiresAt }, NOW)).not.toThrow();
  for (const expiresAt of [NOW, EARLIER])
    expect(() => checkActivation({ active: false, expiresAt }, NOW)).toThrow("expired");
});
