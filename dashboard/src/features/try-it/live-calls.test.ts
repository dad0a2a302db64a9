import { expect, test } from "bun:test";
import { saidInOrder } from "../conversations/said.ts";
import { answeredBy, begunCall, givenBy, storedCalls } from "./live-calls.ts";

const call = (id: string) => ({ tool_call_id: id, name: "look_up_order", arguments: { order_id: "7" } });

test("a call shows where it was made while it runs, and only its own result ends it", () => {
  const reply = "One moment 👍. ";
  const calls = [begunCall(call("tcl_1"), reply), begunCall(call("tcl_2"), reply)];
  const answered = calls.map(answeredBy({ tool_call_id: "tcl_1", result: "shipped", is_error: false }));
  expect(answered.map(({ status, result }) => [status, result])).toEqual([
    ["SUCCEEDED", "shipped"],
    ["RUNNING", ""],
  ]);
  expect(
    saidInOrder(`${reply}It is shipped.`, answered).map((said) => ("text" in said ? said.text : said.call.status)),
  ).toEqual(["One moment 👍.", "SUCCEEDED", "RUNNING", "It is shipped."]);
});

test("a result that is an error makes a call a failed one", () => {
  const [failed] = [begunCall(call("tcl_1"), "")].map(
    answeredBy({ tool_call_id: "tcl_1", result: "status 500", is_error: true }),
  );
  expect(failed).toMatchObject({ status: "FAILED", is_error: true, offset: 0, arguments: '{"order_id":"7"}' });
});

test("a call shows how long it took, and what a person gives for it is its result", () => {
  const begun = begunCall(call("tcl_1"), "", 1_000);
  expect(answeredBy({ tool_call_id: "tcl_1", result: "shipped", is_error: false }, 1_250)(begun).duration_ms).toBe(250);
  expect(givenBy("tcl_1", { result: "14C" })(begun)).toMatchObject({ status: "SUCCEEDED", result: "14C" });
  expect(givenBy("tcl_1", { error: "broken" })(begun)).toMatchObject({ status: "FAILED", result: "broken" });
});

test("calls of a reply that went on after a result keep the places where they were shown", () => {
  const live = [begunCall(call("tcl_1"), "Let me see. "), begunCall(call("tcl_2"), "Let me see. Seat 14C. ")];
  const stored = live.map((each, at) => ({ ...each, status: "SUCCEEDED" as const, offset: at === 1 ? 10 : 12 }));
  expect(storedCalls(stored, live).map(({ offset }) => offset)).toEqual([12, 22]);
});
