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

test("a result without room is shortened before its call is left out, and both go together", () => {
  const result = "r".repeat(8_000);
  const calls = [{ name: "look_up", input: {}, result, isError: false }];
  const all = [
    { role: "user" as const, content: "One" },
    { role: "assistant" as const, content: "", toolCalls: calls },
    { role: "user" as const, content: "Two" },
    { role: "assistant" as const, content: "", toolCalls: calls },
  ];
  const kept = (max: number) =>
    fitContext("", all, max, 2).map((message) => {
      const [call] = "toolCalls" in message ? message.toolCalls : [];
      return call ? (call.result === result ? "whole" : "shortened") : "said";
    });
  expect(kept(10_000)).toEqual(["said", "whole", "said", "whole"]);
  expect(kept(2_400)).toEqual(["said", "shortened", "said", "whole"]);
  expect(kept(2_050)).toEqual(["said", "whole"]);
  expect(kept(500)).toEqual(["said", "shortened", "said", "shortened"]);
});
