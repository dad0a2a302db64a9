import { expect, test } from "bun:test";
import { TestRun } from "@parley/proto/parley/agent/v1/test.ts";
import { presentReplay } from "./tests.ts";

test("a replay shows nothing of what was said to a key that may not read conversations", () => {
  const outcome = JSON.stringify({
    differences: [
      { what: "tools", before: [{ name: "look_up", arguments: { order: "SECRET" } }], after: [] },
      { what: "analysis", field: "mood", before: "SECRET", after: "calm" },
      { what: "reply", reason: "The first one said SECRET." },
    ],
    transcript: { turns: [{ user: "SECRET", agent: "SECRET" }] },
    documents_changed: true,
  });
  const attempts = [{ status: "FAILED", outcome }];
  const run = TestRun.fromPartial({ runId: "rpl_1", results: [{ testId: "a conversation", attempts }] });
  expect(JSON.stringify(presentReplay(run, true))).toContain("SECRET");
  const [result] = presentReplay(run, false).results;
  expect(result).toMatchObject({
    status: "FAILED",
    transcript: null,
    differences: [{ what: "tools" }, { what: "analysis", field: "mood" }, { what: "reply" }],
    documents_changed: true,
  });
  expect(JSON.stringify(result)).not.toContain("SECRET");
});
