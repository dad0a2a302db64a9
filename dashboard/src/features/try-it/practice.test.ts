import { expect, test } from "bun:test";
import { practiceOf } from "./practice.ts";

const STAND_IN = { provider_name: "CUSTOM_LLM", model_name: "stand-in" };
const sts = { provider_name: "OPENAI" };

test("an agent with the practice model says that its replies are canned", () => {
  expect(practiceOf({ llm: STAND_IN }, "chat")).toEqual([expect.stringContaining("canned")]);
  expect(practiceOf({ llm: STAND_IN, sts }, "chat")).toHaveLength(1);
});

test("a call with the practice speech recognition says that it misunderstands", () => {
  expect(practiceOf({ llm: STAND_IN }, "talk").join(" ")).toContain("telephone");
  expect(practiceOf({ llm: STAND_IN, stt: { provider_name: "DEEPGRAM" } }, "talk")).toHaveLength(1);
});

test("an agent with a model of its own says nothing", () => {
  expect(practiceOf({ llm: { provider_name: "OPENAI", model_name: "gpt-5-mini" } }, "talk")).toEqual([]);
  expect(practiceOf({ llm: { provider_name: "CUSTOM_LLM", model_name: "llama" } }, "chat")).toEqual([]);
  expect(practiceOf({ llm: STAND_IN, sts }, "talk")).toEqual([]);
  expect(practiceOf({ llm: null }, "chat")).toEqual([]);
});
