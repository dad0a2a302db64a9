import { expect, test } from "bun:test";
import { type Captioned, caption } from "./captions.ts";

const said = (...captions: Parameters<typeof caption>[1][]) =>
  captions.reduce<readonly Captioned[]>(caption, []).map(({ from, text }) => `${from}: ${text}`);

test("interim words are replaced by the next words of the same side", () => {
  expect(
    said(
      { type: "user", text: "I would", is_final: false },
      { type: "agent", text: "Yes?", is_final: true },
      { type: "user", text: "I would like a table", is_final: true },
    ),
  ).toEqual(["user: I would like a table", "agent: Yes?"]);
});

test("after a final text, the same side starts another line", () => {
  expect(
    said({ type: "agent", text: "Hello.", is_final: true }, { type: "agent", text: "How can I help?", is_final: true }),
  ).toEqual(["agent: Hello.", "agent: How can I help?"]);
});
