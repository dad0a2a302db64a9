import { expect, test } from "bun:test";
import { isAcknowledgement, isFarewell, silenceAfter } from "./phrases.ts";

test.each(["mm-hm", "Okay.", "ok", "Uh-huh, right", "yeah, I see", "MM HMM", "got it"])(
  "%p only shows that someone listens",
  (text) => expect(isAcknowledgement(text)).toBe(true),
);

test.each(["", "okay but wait", "no", "stop", "yes I want to cancel", "okay okay okay okay okay", "what?"])(
  "%p is more than an acknowledgement",
  (text) => expect(isAcknowledgement(text)).toBe(false),
);

test("a farewell may contain thanks and acknowledgements, but no question", () => {
  expect(isFarewell("Okay, thank you, bye!")).toBe(true);
  expect(isFarewell("Bye. Wait, when do you open?")).toBe(false);
});

test("a whole sentence ends a turn sooner, and words that need others end it later", () => {
  expect(silenceAfter("When do you open?", 500)).toBe(300);
  expect(silenceAfter("when do you open", 500)).toBe(500);
  for (const text of [
    "My number is",
    "my number is,",
    "I would like to",
    "so, um",
    "it is five five -",
    "because...",
  ]) {
    expect(silenceAfter(text, 500)).toBe(1_500);
  }
});

test("the silence limit stays within the allowed settings", () => {
  expect(silenceAfter("Yes.", 200)).toBe(200);
  expect(silenceAfter("my number is", 3_000)).toBe(3_000);
});
