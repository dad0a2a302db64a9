import { expect, test } from "bun:test";
import { readConfig } from "../src/config.ts";
import { createSealer, ENCRYPTION_KEY, isSameSecret } from "../src/sealing.ts";

const [OLD, NEW] = [1, 2].map((byte) => Buffer.alloc(32, byte).toString("base64")) as [string, string];

test("a sealed secret opens with the same key and context, and with no other", () => {
  const sealed = createSealer(OLD).seal("secret", "own_1");
  expect(createSealer(OLD).open(sealed, "own_1")).toBe("secret");
  expect(() => createSealer(OLD).open(sealed, "own_2")).toThrow();
  expect(() => createSealer(NEW).open(sealed, "own_1")).toThrow("sealed with another PARLEY_ENCRYPTION_KEY");
  expect(() => createSealer(OLD).open(`${sealed.slice(0, -2)}AA`, "own_1")).toThrow();
});

test("with several keys, all open and the first seals", () => {
  const both = createSealer(`${NEW},${OLD}`);
  expect(both.open(createSealer(OLD).seal("secret", "c"), "c")).toBe("secret");
  expect(createSealer(NEW).open(both.seal("secret", "c"), "c")).toBe("secret");
});

test("a reseal keeps what the first key sealed and seals the rest with it", () => {
  const both = createSealer(`${NEW},${OLD}`);
  const old = createSealer(OLD).seal("secret", "c");
  const fresh = both.reseal(old, "c");
  expect(createSealer(NEW).open(fresh, "c")).toBe("secret");
  expect(both.reseal(fresh, "c")).toBe(fresh);
});

test.each(["", "short", `${OLD},short`, `${OLD},`])("%j is not an encryption key", (text) => {
  expect(() => readConfig({ KEY: text }, { KEY: ENCRYPTION_KEY() })).toThrow("KEY");
});

test("signatures of different lengths differ", () => {
  expect(isSameSecret("", "a")).toBeFalse();
  expect(isSameSecret("ab", "a")).toBeFalse();
  expect(isSameSecret("ab", "ab")).toBeTrue();
});
