import { expect, test } from "bun:test";
import { newApiKey } from "./api-key.ts";

test("every key has the right form, a unique prefix and a unique digest", () => {
  const keys = Array.from({ length: 2_000 }, newApiKey);
  for (const { apiKey, prefix, digest } of keys) {
    expect(apiKey).toMatch(/^vk_[0-9A-Za-z]{43}$/);
    expect(prefix).toBe(apiKey.slice(0, 11));
    expect(digest).toEqual(new Bun.CryptoHasher("sha256").update(apiKey).digest());
  }
  expect(new Set(keys.map((key) => key.apiKey)).size).toBe(keys.length);
});

test("every position of a key varies", () => {
  const keys = Array.from({ length: 2_000 }, () => newApiKey().apiKey.slice(3));
  const values = Array.from({ length: 43 }, (_, at) => new Set(keys.map((key) => key.charAt(at))).size);
  // The first digit has fewer values: 2^256 is a little less than 62^43.
  expect(Math.min(...values)).toBeGreaterThan(45);
});
