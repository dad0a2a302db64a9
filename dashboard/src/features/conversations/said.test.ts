import { expect, test } from "bun:test";
import { type Said, saidInOrder, type ToolCall, toolsBeforeFirstWord } from "./said.ts";

const called = (name: string, offset: number, started_ms: number | null = 0, duration_ms = 0): ToolCall => ({
  tool_call_id: "tcl_1",
  name,
  status: "SUCCEEDED",
  arguments: "{}",
  result: "",
  is_error: false,
  is_cut: false,
  http_status: null,
  note: null,
  attempts: 1,
  started_ms,
  duration_ms,
  offset,
});
const line = (said: Said) => (said.type === "text" ? said.text : `(${said.call.name})`);

test("tool calls stand where they were made, counted in characters, and text without them is left as it is", () => {
  const content = "One 🙂 moment. Hola.";
  const calls = [called("a", 0), called("b", 13), called("c", 13), called("d", 99)];
  expect(saidInOrder(content, calls).map(line)).toEqual(["(a)", "One 🙂 moment.", "(b)", "(c)", "Hola.", "(d)"]);
  expect(saidInOrder("  as it is ", []).map(line)).toEqual(["  as it is "]);
  expect(saidInOrder("", [called("a", 0)]).map(line)).toEqual(["(a)"]);
});

test("the tools' share of a reply is what passed until the last of those before its first word had answered", () => {
  expect(toolsBeforeFirstWord([called("a", 0, 400, 20), called("b", 0, 700, 1_000), called("c", 5, 3_000, 9)])).toBe(
    1_700,
  );
  expect(toolsBeforeFirstWord([called("a", 0, null, 9)])).toBe(0);
  expect(toolsBeforeFirstWord([])).toBe(0);
});
