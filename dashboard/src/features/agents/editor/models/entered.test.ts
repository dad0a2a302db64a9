import { expect, test } from "bun:test";
import { type Entered, forgetBelow, switched } from "./entered.ts";

const OWN = { provider_name: "CUSTOM_LLM", model_name: "mine" };
const fresh = (provider_name: string) => () => ({ provider_name, model_name: "first" });

test("changing the provider and back brings back what was entered", () => {
  const entered: Entered = new Map();
  const openAi = switched(entered, "llm", OWN, "OPENAI", fresh("OPENAI"));
  expect(openAi).toEqual({ provider_name: "OPENAI", model_name: "first" });
  const typed = { ...openAi, model_name: "gpt-4.1" };
  expect(switched(entered, "llm", typed, "CUSTOM_LLM", fresh("CUSTOM_LLM"))).toEqual(OWN);
  expect(switched(entered, "llm", OWN, "OPENAI", fresh("OPENAI"))).toEqual(typed);
});

test("what was entered in one place is not brought back in another", () => {
  const entered: Entered = new Map();
  switched(entered, "llm.fallbacks.0", OWN, "OPENAI", fresh("OPENAI"));
  expect(switched(entered, "llm", null, "CUSTOM_LLM", fresh("CUSTOM_LLM")).model_name).toBe("first");
  forgetBelow(entered, "llm.fallbacks");
  expect(switched(entered, "llm.fallbacks.0", null, "CUSTOM_LLM", fresh("CUSTOM_LLM")).model_name).toBe("first");
});
