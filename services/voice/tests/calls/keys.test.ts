import { expect, test } from "bun:test";
import { ServiceError } from "@parley/shared/errors";
import { complete, fakeConversations, says, words } from "../kit/fake-conversations.ts";
import { newCall } from "../kit/scripted-call.ts";

const press = (keys: string) => ({
  $case: "action" as const,
  value: { action: { $case: "sendDtmf" as const, value: { keys } } },
});

test("keys are pressed as soon as the model decides it, and a model that says nothing then is not excused", async () => {
  const conversations = fakeConversations();
  conversations.script = () => [press("1w2#"), complete];
  const call = await newCall({ conversations });
  await call.asks("For English, press one.");
  expect(call.leg.pressed).toEqual(["1w2#"]);
  await call.time.pass(20_000);
  conversations.script = says("Hello, this is Ada.");
  await call.asks("Sales, how can I help?");
  await call.time.pass(2_000);
  expect(conversations.lines).toEqual([
    "user: For English, press one.",
    "user: Sales, how can I help?",
    "assistant: Hello, this is Ada.",
  ]);
});

test("a call whose keys could not be pressed goes on, and its notes say why", async () => {
  const conversations = fakeConversations();
  conversations.script = () => [press("1"), words("I pressed one."), complete];
  const call = await newCall({ conversations });
  call.leg.keysFault = new ServiceError("condition", "The other side of the call takes no keys");
  await call.asks("Press one.");
  await call.time.pass(2_000);
  expect(call.leg.hungUp).toBe(false);
  await call.leaves();
  expect(await call.ended).toMatchObject({
    outcome: "SUCCESS",
    notes: "Keys could not be pressed: The other side of the call takes no keys",
  });
});
