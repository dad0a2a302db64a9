import { expect, test } from "bun:test";
import { idOf, isId, isUuid, newId, newUuid } from "../src/ids.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

test("an id is its prefix and 26 characters of Crockford's base32", () => {
  for (const prefix of ["agt", "own", "call"] as const) {
    expect(newId(prefix)).toMatch(new RegExp(`^${prefix}_[0-7][0-9a-hjkmnp-tv-z]{25}$`));
  }
});

test("the characters are the 128 bits of a UUIDv7 of now, none lost", () => {
  const before = Date.now();
  const ids = Array.from({ length: 1_000 }, () => newId("cnv"));
  const after = Date.now();
  for (const id of ids) {
    const bits = bitsOf(id);
    expect(bits >> 128n).toBe(0n);
    expect((bits >> 76n) & 0xfn).toBe(7n);
    expect((bits >> 62n) & 0b11n).toBe(0b10n);
    expect(Number(bits >> 80n)).toBeGreaterThanOrEqual(before);
    expect(Number(bits >> 80n)).toBeLessThanOrEqual(after);
    expect(encode(bits)).toBe(id.slice("cnv_".length));
  }
  // Every bit below the fixed ones varies.
  const everSet = ids.map(bitsOf).reduce((all, bits) => all | bits);
  expect(everSet & ((1n << 62n) - 1n)).toBe((1n << 62n) - 1n);
});

test("ids sort in the order of their creation", () => {
  const ids = Array.from({ length: 10_000 }, () => newId("evt"));
  expect(ids.toSorted()).toEqual(ids);
  expect(new Set(ids).size).toBe(ids.length);
});

test("the id of a UUID is always the same and has the UUID's bits", () => {
  const uuid = "018f3a5e-7b2c-7def-8123-456789abcdef";
  expect(bitsOf(idOf("evt", uuid))).toBe(BigInt(`0x${uuid.replaceAll("-", "")}`));
  expect(idOf("evt", uuid)).toBe(idOf("evt", uuid.toUpperCase()));
});

test("an id of a kind is distinguished from other texts", () => {
  const id = newId("agt");
  expect(isId("agt", id)).toBe(true);
  for (const other of ["", "agt_", newId("key"), `${id}0`, id.slice(0, -1), `${id}\n`, `agt_${"\0".repeat(26)}`]) {
    expect(isId("agt", other)).toBe(false);
  }
});

test("a UUID is distinguished from other texts", () => {
  expect(isUuid(newUuid())).toBe(true);
  expect(isUuid("00000000-0000-0000-0000-000000000000")).toBe(true);
  expect(isUuid(newUuid().toUpperCase())).toBe(true);
  for (const other of ["", "x", newId("cnv"), `${newUuid()}0`, `${newUuid()}\n`, newUuid().replaceAll("-", "")]) {
    expect(isUuid(other)).toBe(false);
  }
});

function bitsOf(id: string): bigint {
  const digits = id.slice(id.indexOf("_") + 1);
  return [...digits].reduce((bits, digit) => bits * 32n + BigInt(ALPHABET.indexOf(digit)), 0n);
}

function encode(bits: bigint): string {
  return Array.from({ length: 26 }, (_, at) => ALPHABET.charAt(Number((bits >> BigInt(5 * (25 - at))) & 31n))).join("");
}
