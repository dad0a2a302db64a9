import { expect, test } from "bun:test";
import { readStartAnswer, WrongAnswer } from "./answer.ts";

const NOTHING = {
  variables: {},
  metadata: {},
  agentId: null,
  firstMessage: null,
  language: null,
  voiceId: null,
  say: null,
};

function faultOf(answer: unknown): string | null {
  try {
    readStartAnswer(typeof answer === "string" ? answer : JSON.stringify(answer));
    return null;
  } catch (error) {
    if (error instanceof WrongAnswer) return error.message;
    throw error;
  }
}

test("a start webhook's answer may have all of its fields, and unknown ones are ignored", () => {
  const answer = {
    dynamic_variables: { "Customer Name": "Ada", orders: [1, 2], system_time: "now" },
    agent_id: "agt_1",
    first_message: "Hello {{customer_name}}!",
    language: "de-DE",
    voice_id: "alloy",
    metadata: { tier: "gold" },
    plan: { anything: 1 },
  };
  expect(readStartAnswer(JSON.stringify(answer))).toEqual({
    variables: { customer_name: "Ada", orders: [1, 2] },
    metadata: { tier: "gold" },
    agentId: "agt_1",
    firstMessage: "Hello {{customer_name}}!",
    language: "de-DE",
    voiceId: "alloy",
    say: null,
  });
  expect(readStartAnswer(JSON.stringify({ reject: { say: "We are closed." } })).say).toBe("We are closed.");
});

test("an empty answer of a start webhook, and null in one, change nothing", () => {
  for (const text of ["", " \n", "{}", '{ "agent_id": null, "dynamic_variables": null, "reject": null }'])
    expect(readStartAnswer(text)).toEqual(NOTHING);
});

test("one wrong field makes a start webhook's whole answer wrong, and the fault names it", () => {
  expect(faultOf("<html>")).toBe("The answer must be a JSON object");
  expect(faultOf("[]")).toBe("The answer must be a JSON object");
  expect(faultOf({ dynamic_variables: [] })).toBe("dynamic_variables must be an object");
  expect(faultOf({ dynamic_variables: { list: ["x".repeat(17_000)] } })).toStartWith("dynamic_variables.list must be");
  expect(faultOf({ metadata: "gold" })).toBe("metadata must be an object");
  expect(faultOf({ agent_id: 7 })).toBe("agent_id must be a text of 1 to 200 characters");
  expect(faultOf({ first_message: "x".repeat(10_001) })).toBe(
    "first_message must be a text of at most 10000 characters",
  );
  expect(faultOf({ language: "German!" })).toBe("language must be a BCP 47 tag, such as en-US");
  expect(faultOf({ voice_id: "" })).toBe("voice_id must be a text of 1 to 200 characters");
  expect(faultOf({ reject: true })).toBe("reject must be an object");
  expect(faultOf({ reject: {} })).toBe("reject.say must be a text of 1 to 1000 characters");
  expect(faultOf({ metadata: { note: "a\u0000b" } })).toBe("metadata.note must not contain a NUL character");
  expect(faultOf('{ "metadata": { "note": "\\ud83d" } }')).toBe("The answer has half of a character");
});
