import { expect, test } from "bun:test";
import { TtsConfig } from "@parley/proto/parley/agent/v1/agent.ts";
import { ServiceError } from "@parley/shared/errors";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/testkit/eventually";
import { announcer } from "../../src/sip-calls/announce.ts";
import type { TextToSpeech } from "../../src/speech/tts.ts";
import { listening, tone } from "../listening.ts";
import { phone, to } from "./phones.ts";

const SENTENCE = "This number is not in service.";
const TTS = TtsConfig.fromPartial({ providerName: "SCRIPTED", voiceId: "v" });
const HZ = 1_000;

/** A voice that hums, unless it is broken. */
function humming() {
  const voice = { said: [] as string[], isBroken: false };
  const speech: TextToSpeech = {
    speak: (_options, spoken) => ({
      say: (text) => void voice.said.push(text),
      end: () =>
        queueMicrotask(() => {
          if (voice.isBroken) return spoken({ type: "failed", error: new ServiceError("upstream_failed", "Broken") });
          spoken({ type: "audio", audio: tone(HZ, 0.4) });
          spoken({ type: "done" });
        }),
    }),
  };
  return { voice, voiceOf: () => speech };
}

test("a caller hears the sentence and is hung up on; the provider speaks it once for all callers", async () => {
  const { voice, voiceOf } = humming();
  const announce = announcer({ sentence: SENTENCE, tts: TTS, voiceOf, log: silentLogger });
  const results: boolean[] = [];
  const parley = await phone((invite) => void announce("own_1", invite).then((result) => results.push(result)));
  const caller = await phone();
  for (const number of [1, 2]) {
    const ear = listening();
    expect(await caller.call(to(parley), ear.to)).toHaveProperty("answered");
    await eventually(() => expect(ear.endings).toEqual(["hung_up"]), 20_000);
    expect(ear.heardTone(HZ)).toBeTrue();
    await eventually(() => expect(results).toEqual(new Array(number).fill(true)));
  }
  expect(voice.said).toEqual([SENTENCE]);
});

test("a provider that fails leaves the call unanswered, and is asked again for the next caller", async () => {
  const { voice, voiceOf } = humming();
  voice.isBroken = true;
  const announce = announcer({ sentence: SENTENCE, tts: TTS, voiceOf, log: silentLogger });
  const parley = await phone(
    (invite) =>
      void announce("own_1", invite).then(
        (isSaid) => isSaid || invite.refuse(404, "Not Found"),
        // The phones stop before the call is confirmed.
        () => {},
      ),
  );
  const caller = await phone();
  expect(await caller.call(to(parley), listening().to)).toMatchObject({ refused: 404 });
  voice.isBroken = false;
  expect(await caller.call(to(parley), listening().to)).toHaveProperty("answered");
});

test("an installation without a voice, or without its provider's key, says nothing", async () => {
  const missing = () => {
    throw new ServiceError("condition", "The operator has to set DEEPGRAM_API_KEY");
  };
  const unanswered = { cancelled: new AbortController().signal } as never;
  const silent = announcer({ sentence: SENTENCE, tts: undefined, voiceOf: missing, log: silentLogger });
  const keyless = announcer({ sentence: SENTENCE, tts: TTS, voiceOf: missing, log: silentLogger });
  expect(await silent("own_1", unanswered)).toBeFalse();
  expect(await keyless("own_1", unanswered)).toBeFalse();
});
