import { expect, test } from "bun:test";
import fc from "fast-check";
import { estimateTokens, fitContext } from "./context-window.ts";

const message = fc.record({
  role: fc.constantFrom("user" as const, "assistant" as const),
  content: fc.string({ maxLength: 200 }),
});
const messages = fc.array(message, { minLength: 1, maxLength: 30 });
const cost = (system: string, kept: readonly { content: string }[]) =>
  kept.reduce((sum, { content }) => sum + estimateTokens(content), estimateTokens(system));

test("what is kept is the newest, in order, and always the last", () => {
  fc.assert(
    fc.property(fc.string(), messages, fc.nat(2_000), (system, all, max) => {
      const kept = fitContext(system, all, max);
      expect(kept.length).toBeGreaterThanOrEqual(1);
      expect(kept).toEqual(all.slice(all.length - kept.length));
    }),
  );
});

test("what is kept fits, and one message more would not", () => {
  fc.assert(
    fc.property(fc.string(), messages, fc.nat(2_000), (system, all, max) => {
      const kept = fitContext(system, all, max);
      if (kept.length > 1) expect(cost(system, kept)).toBeLessThanOrEqual(max);
      const oneMore = all.slice(-kept.length - 1);
      if (oneMore.length > kept.length) expect(cost(system, oneMore)).toBeGreaterThan(max);
    }),
  );
});

test("without messages there is no context", () => {
  expect(fitContext("system", [], 100)).toEqual([]);
});
