import { expect, test } from "bun:test";
import { ToolRules } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { rulesOf } from "./tools.ts";

test("a tool of a speech-to-speech model is waited for after an interruption too, because its call is never cancelled", () => {
  expect(rulesOf(ToolRules.fromPartial({ isCancellable: true })).isCancellable).toBeFalse();
});
