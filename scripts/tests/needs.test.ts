import { expect, test } from "bun:test";
import { needsOf } from "../needs.ts";

test("a test file needs the programs that it and its imports obtain", async () => {
  const [voice, call, service] = [
    "tests/channels/voice-message.test.ts",
    "tests/calls/web-call.test.ts",
    "services/account/tests/keys.test.ts",
  ];
  const needs = await needsOf([voice, call, service]);
  expect(needs.get(voice)).toEqual(["opusenc", "pocketSphinx", "pocketSphinxModel"]);
  expect(needs.get(call)).toContain("headlessChromium");
  expect(needs.get(service)).toEqual([]);
});
