import { expect, test } from "bun:test";
import { type Line, withGiven, withNews } from "./captions.ts";

const linesOf = (...news: Parameters<typeof withNews>[1][]) => news.reduce<readonly Line[]>(withNews, []);
const shown = (line: Line) =>
  line.from === "tool"
    ? `${line.call.name} ${line.call.status}${line.waitsMs ? ", waits" : ""}`
    : `${line.from}: ${line.text}`;
const said = (...news: Parameters<typeof withNews>[1][]) => linesOf(...news).map(shown);
const seats = { tool_call_id: "tcl_1", name: "show_seats", arguments: { row: 14 } };

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

test("a tool shows where it was called while it runs, and its result ends it", () => {
  const before = linesOf(
    { type: "user", text: "Which seat is mine?", is_final: true },
    { type: "agent", text: "Let me", is_final: false },
    { type: "tool_call", ...seats },
    { type: "agent", text: "Let me see. It is", is_final: false },
  );
  expect(before.map(shown)).toEqual(["user: Which seat is mine?", "agent: Let me see. It is", "show_seats RUNNING"]);
  const after = withNews(before, { type: "tool_result", tool_call_id: "tcl_1", result: "14C", is_error: false });
  expect(after.map(shown).at(-1)).toBe("show_seats SUCCEEDED");
  expect(after.at(-1)).toMatchObject({ call: { result: "14C", duration_ms: expect.any(Number) } });
});

test("a client's call asks the person for its result, until they give it or it is over", () => {
  const asked = linesOf({ type: "tool_call", ...seats }, { type: "client_call", ...seats, timeout_ms: 20_000 });
  expect(asked.map(shown)).toEqual(["show_seats RUNNING, waits"]);
  expect(withGiven(asked, "tcl_1", { error: "broken" }).map(shown)).toEqual(["show_seats FAILED"]);
  expect(withNews(asked, { type: "error", tool_call_id: "tcl_1", detail: "over" }).map(shown)).toEqual([
    "show_seats RUNNING",
  ]);
  expect(withNews(asked, { type: "error", detail: "of another message" })).toEqual(asked);
  expect(said({ type: "client_call", ...seats })).toEqual(["show_seats RUNNING"]);
});
