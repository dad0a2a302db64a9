import { expect, test } from "bun:test";
import { openingOf } from "./opening.ts";

const user = (content: string) => ({ role: "user" as const, content });
const agent = (content: string) => ({ role: "assistant" as const, content });
const CALLER = "+14155550100";

test.each([
  ["the user's first words", [agent("Hello"), user(" Hi "), user("Bye")], CALLER, "Hi"],
  ["the user's first words after a message of spaces", [user("  \n"), agent("Hello"), user("Hi")], CALLER, "Hi"],
  ["the caller who said nothing", [agent("Hello"), user(" ")], CALLER, CALLER],
  ["the agent's first words", [user("  "), agent(""), agent("Hello")], undefined, "Hello"],
  ["having messages without words", [user("  "), agent("")], undefined, "No words"],
  ["having no messages", [], undefined, "No messages"],
])("a conversation is listed by %s", (_, conversation_transcript, mobile_number, opening) => {
  expect(openingOf({ conversation_transcript, mobile_number })).toBe(opening);
});
