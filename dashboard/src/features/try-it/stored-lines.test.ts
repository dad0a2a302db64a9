import { expect, test } from "bun:test";
import type { Captioned, Line } from "./captions.ts";
import { begunCall } from "./live-calls.ts";
import { withStored } from "./stored-lines.ts";

const line = (id: number, from: Captioned["from"], text: string, isFinal = true): Captioned => ({
  ...{ id, from, text, isFinal },
  latency: "",
});
const CALL = [
  line(1, "agent", "Front desk, how can I help?"),
  line(2, "user", "When do you open?"),
  line(3, "agent", "We open"),
  line(4, "user", "On Sunday, I mean."),
  line(5, "agent", "At", false),
];
/** Of lines that have words. */
const withWords = (lines: readonly Line[], messages: Parameters<typeof withStored>[1]) =>
  withStored(lines, messages) as readonly Captioned[];
const MESSAGES = [
  { role: "assistant", content: "Front desk, how can I help?" },
  { role: "user", content: "When do you open?" },
  { role: "assistant", content: "We open", latency: { end_of_turn: 500, audible: 900 } },
  { role: "user", content: "On Sunday, I mean." },
];

test("a reply that follows an interruption does not show the figures of the one before", () => {
  const shown = withWords(CALL, MESSAGES).map(({ latency }) => latency);
  expect(shown).toEqual(["", "", expect.stringMatching(/^900 ms · End of turn 500 ms/), "", ""]);
});

test("each line gets the figures of its own message, also if two replies have the same words", () => {
  const lines = [line(1, "agent", "Yes."), line(2, "agent", "Yes."), line(3, "agent", "No.")];
  const messages = [
    { role: "assistant", content: "Yes.", latency: { audible: 100 } },
    { role: "assistant", content: "Yes.", latency: { audible: 200 } },
  ];
  expect(withWords(lines, messages).map(({ latency }) => latency.split(" · ")[0])).toEqual(["100 ms", "200 ms", ""]);
});

test("a reply to an unfinished sentence says why it came later", () => {
  const lines = withWords(
    [line(1, "agent", "Go on.")],
    [{ role: "assistant", content: "Go on.", latency: { audible: 1_900, end_of_turn: 1_500, unfinished: true } }],
  );
  expect(lines[0]?.latency).toContain("unfinished");
});

test("a line has the tools that were called in its message, of either side", () => {
  const toolCalls = [{ tool_call_id: "tcl_1", name: "look_up_order" }] as never;
  const lines = [line(1, "user", "Where is my order?"), line(2, "agent", "It is on its way.")];
  const messages = [
    { role: "user", content: "Where is my order?" },
    { role: "assistant", content: "It is on its way.", tool_calls: toolCalls },
  ];
  expect(withWords(lines, messages).map((each) => each.toolCalls)).toEqual([undefined, toolCalls]);
});

test("a call that was told while it ran stays in its place, as it is stored, and does not show twice", () => {
  const call = { tool_call_id: "tcl_1", name: "look_up_order", arguments: {} };
  const lines: Line[] = [
    line(1, "user", "Where is my order?"),
    { id: 2, from: "tool", call: begunCall(call, ""), waitsMs: null },
    line(3, "agent", "It is on its way."),
  ];
  const stored = { ...begunCall(call, ""), status: "SUCCEEDED" as const, duration_ms: 12 };
  const messages = [
    { role: "user", content: "Where is my order?" },
    { role: "assistant", content: "It is on its way.", tool_calls: [stored] },
  ];
  const [, called, answer] = withStored(lines, messages);
  expect([called, answer]).toMatchObject([{ from: "tool", call: { status: "SUCCEEDED", duration_ms: 12 } }, { id: 3 }]);
  expect(answer).not.toHaveProperty("toolCalls");
});

test("a line whose words were stored as several messages, as fillers are, has the figures of its reply", () => {
  const messages = [
    { role: "user", content: "Where is my order?" },
    { role: "assistant", content: "One moment please." },
    { role: "assistant", content: "It is on its way.", latency: { audible: 900 } },
    { role: "assistant", content: "Are you there?" },
  ];
  const lines = [
    line(1, "user", "Where is my order?"),
    line(2, "agent", "One moment please. It is on its way."),
    line(3, "agent", "Are you there?"),
  ];
  expect(withWords(lines, messages).map(({ latency }) => latency)).toEqual(["", expect.stringMatching(/^900 ms/), ""]);
});
