import { expect, test } from "bun:test";
import { join } from "node:path";

// Its types are those of browsers.
const { renderedValue } = await import(join(import.meta.dir, "../../../testing/rendered-value.tsx"));

test.each([
  ["tools.end_call", true, "On"],
  ["tools.end_call", null, "Off"],
  ["tools.end_call", { message: "Goodbye" }, "Message: Goodbye"],
  ["recording", false, "No"],
  ["agent_tips", [], "Nothing"],
  ["agent_mobile_number", ["+14155550123", "+14155550124"], "+14155550123, +14155550124"],
  ["custom_tools", [{ tool_id: "tol_1" }, { tool_id: "tol_2" }], "Tool: look_up Tool: Deleted tool"],
  ["custom_tools.look_up.timeout_ms", 4_000, "4,000 ms"],
  ["custom_tools.look_up.headers", { "x-shop_id": "7" }, "x-shop_id: 7"],
  [
    "handoffs",
    [{ agent_id: "agt_1", when: "An invoice.", greet: true }],
    "Agent: Billing When: An invoice. Greet: Yes",
  ],
  ["replay.outcome", { turns: 2, handed_off_to: ["agt_1"] }, "Turns: 2 Handed off to: Billing"],
  [
    "replay.tools",
    [{ name: "look_up", arguments: { id: 12345, agent_id: "7" }, is_error: false }],
    "Name: look_up Arguments: id: 12345 agent_id: 7 Failed: No",
  ],
  ["call_analysis_schema", { mood: { type: "Optional[str]" } }, "mood: Text, optional"],
  ["call_analysis_schema.mood.type", 'Literal["good","bad"]', "Choice of good, bad"],
])("a person reads the value of %s, %j, in words", (field, value, words) => {
  expect(renderedValue(field, value)).toBe(words);
});
