import { expect, test } from "bun:test";
import { retryAfterMs } from "./retry-after.ts";

const NOW = Date.UTC(2026, 0, 1, 12);

test.each<[Record<string, string>, number | undefined]>([
  [{ "retry-after": "3" }, 3_000],
  [{ "retry-after": " 0 " }, 0],
  [{ "retry-after": "1.5" }, 1_500],
  [{ "retry-after": "Thu, 01 Jan 2026 12:00:20 GMT" }, 20_000],
  [{ "retry-after": "Thu, 01 Jan 2026 11:00:00 GMT" }, 0],
  [{ "retry-after": "3", "retry-after-ms": "250" }, 250],
  [{ "retry-after": "soon" }, undefined],
  [{ "retry-after": "-3" }, undefined],
  [{ "retry-after": `2026${"0".repeat(9)}` }, undefined],
  [{ "retry-after": "" }, undefined],
  [{}, undefined],
])("%j is %p ms", (headers, expected) => {
  expect(retryAfterMs(headers, NOW)).toBe(expected as number);
});
