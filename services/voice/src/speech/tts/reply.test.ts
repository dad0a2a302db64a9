import { expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import type { SpokenEvent } from "../tts.ts";
import { reply, type SpeakerEvents } from "./reply.ts";

const ACCESS = { provider: "TESTER", keyName: "TESTER_API_KEY", apiKey: "key", baseUrl: "https://tts.example" };
const SOUND = new Int16Array(160).fill(1);

/** A reply to be spoken, with its attempts in order. */
function speaking(stallMs: number) {
  const attempts: SpeakerEvents[] = [];
  const events: SpokenEvent[] = [];
  const over = new AbortController();
  const spoken = reply(
    { ...ACCESS, times: { retryMs: 1, stallMs } },
    (speaker) => {
      attempts.push(speaker);
      return { say: () => {}, end: () => {}, close: () => {} };
    },
    { signal: over.signal },
    (event) => events.push(event),
  );
  return { attempts, events, spoken, stop: () => over.abort() };
}

test("a provider that sends nothing but empty audio has stalled", async () => {
  const { attempts, events, spoken, stop } = speaking(5);
  spoken.say("Hello there.");
  spoken.end();
  const sending = setInterval(() => attempts.at(-1)?.audio(new Int16Array()), 1);
  await eventually(() => expect(events.map(({ type }) => type)).toEqual(["failed"]));
  clearInterval(sending);
  stop();
});

test("a connection that is lost after the last word, before its end was reported, has spoken everything", () => {
  const { attempts, events, spoken } = speaking(20_000);
  spoken.say("Hello there. ");
  spoken.end();
  attempts[0]?.audio(SOUND);
  attempts[0]?.spoken("Hello there.".length);
  attempts[0]?.lost("the connection was lost");
  expect(events.map(({ type }) => type)).toEqual(["audio", "done"]);
  expect(attempts).toHaveLength(1);
});
