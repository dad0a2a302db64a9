import { expect, test } from "bun:test";
import { join } from "node:path";
import { ServiceError } from "@parley/shared/errors";
import { serviceErrorOf } from "@parley/testkit/failures";
import { readOggOpus } from "../src/audio/ogg.ts";
import { opus } from "../src/audio/opus.ts";
import { durationMs, type Pcm } from "../src/audio/pcm.ts";
import type { SpeechEvent, SpeechToText } from "../src/speech/stt.ts";
import { spokenNotes } from "../src/voice-notes/notes.ts";
import { speakNote } from "../src/voice-notes/speak.ts";
import { transcribeNote } from "../src/voice-notes/transcribe.ts";
import { scriptedVoice, WORD_MS } from "./kit/scripted-speech.ts";

/** A second of 440 Hz by opusenc. */
const TONE = await Bun.file(join(import.meta.dir, "fixtures/tone.ogg")).bytes();
const NEVER = new AbortController().signal;

interface Hearing extends SpeechToText {
  audio: Pcm;
  isOpen: boolean;
}

/** @param report what it says when it is asked for the end */
function hearing(report: (tell: (event: SpeechEvent) => void) => void): Hearing {
  const pieces: Pcm[] = [];
  const own: Hearing = {
    endsTurns: false,
    isOpen: false,
    get audio() {
      return Int16Array.from(pieces.flatMap((piece) => [...piece]));
    },
    listen: (_options, heard) => {
      own.isOpen = true;
      return {
        send: (audio) => void pieces.push(audio),
        finalize: () => report(heard),
        setLanguage: () => {},
        close: () => {
          own.isOpen = false;
        },
      };
    },
  };
  return own;
}

function note(audio: Uint8Array) {
  return { audio, model: "nova-3", language: "en" };
}

/** How often the audio crosses zero upwards in a second. */
function pitch(audio: Pcm): number {
  const crossings = audio.filter((sample, at) => at > 0 && sample >= 0 && (audio[at - 1] as number) < 0).length;
  return crossings / (durationMs(audio.length) / 1_000);
}

test("a note that opusenc wrote arrives intact at the provider, and its words come back in order", async () => {
  const ears = hearing((tell) => {
    tell({ type: "partial", text: "when" });
    tell({ type: "final", text: "When do you" });
    tell({ type: "final", text: " open? " });
    tell({ type: "finalized" });
  });
  expect(await transcribeNote(ears, note(TONE), NEVER)).toBe("When do you open?");
  expect(durationMs(ears.audio.length)).toBeWithin(980, 1_040);
  expect(pitch(ears.audio)).toBeWithin(430, 450);
  expect(ears.isOpen).toBeFalse();
});

test("turns that a provider ends by itself after it was asked for the end are words of the note too", async () => {
  const ears = hearing((tell) => {
    tell({ type: "final", text: "Hello." });
    tell({ type: "end_of_turn" });
    tell({ type: "finalized" });
    setTimeout(() => {
      tell({ type: "partial", text: "When do" });
      setTimeout(() => tell({ type: "final", text: "When do you open?" }));
    });
  });
  ears.endsTurns = true;
  expect(await transcribeNote(ears, note(TONE), NEVER)).toBe("Hello. When do you open?");
});

test("the transcription ends when its provider fails or its caller leaves", async () => {
  const broken = hearing((tell) => tell({ type: "failed", error: new ServiceError("upstream_failed", "no ears") }));
  expect(await serviceErrorOf(transcribeNote(broken, note(TONE), NEVER))).toMatchObject({ detail: "no ears" });
  const gone = new AbortController();
  const silent = hearing(() => gone.abort(new ServiceError("cancelled", "gone")));
  expect(await serviceErrorOf(transcribeNote(silent, note(TONE), gone.signal))).toMatchObject({ kind: "cancelled" });
  expect([broken.isOpen, silent.isOpen]).toEqual([false, false]);
});

test("audio that is not a voice note is refused with a message for the owner", async () => {
  const ears = hearing((tell) => tell({ type: "finalized" }));
  for (const audio of [new Uint8Array(), Buffer.from("an mp3"), TONE.subarray(0, 900)]) {
    expect(await serviceErrorOf(transcribeNote(ears, note(audio), NEVER))).toMatchObject({
      kind: "condition",
      detail: expect.stringMatching(/^The voice note is (not )?an Ogg file/),
    });
  }
});

test("a spoken note is an Ogg file of Opus that lasts as long as its words", async () => {
  const voice = scriptedVoice();
  const file = await speakNote(
    voice,
    "We open at nine. Shall I book a table for you?",
    { voiceId: "v", params: {} },
    NEVER,
  );
  expect(voice.said).toEqual(["We open at nine. Shall I book a table for you?"]);
  const decoder = opus();
  const { packets } = readOggOpus(file);
  const samples = packets.reduce((sum, packet) => sum + decoder.decode(packet).length, 0);
  expect(durationMs(samples)).toBe(11 * WORD_MS);
});

test("a spoken note says the words of Markdown, not its marks", async () => {
  const voice = scriptedVoice();
  const text = "**Open** today:\n\n- nine to five, see [the map](https://example.com/map)\n- `Closed` on Sundays";
  await speakNote(voice, text, { voiceId: "v", params: {} }, NEVER);
  expect(voice.said.join("")).toBe("Open today:\n\nnine to five, see the map.\nClosed on Sundays");
});

test("a failing voice, and a text that is too long for a note or has no words, leave no file", async () => {
  const options = { voiceId: "v", params: {} };
  const mute = scriptedVoice(() => "fail");
  await expect(speakNote(mute, "Hello there, how are you?", options, NEVER)).rejects.toThrow("no voice");
  const bytesMax = 200;
  const long = speakNote(scriptedVoice(), "We open at nine and close at six.", options, NEVER, bytesMax);
  expect(await serviceErrorOf(long)).toMatchObject({ kind: "condition" });
  const wordless = speakNote(scriptedVoice(), "👍\n```\ncode\n```", options, NEVER);
  expect(await serviceErrorOf(wordless)).toMatchObject({ kind: "condition", detail: "The text has no words to speak" });
});

test("an agent without speech, a note without words to say and one of too many bytes are refused", async () => {
  const none = { stt: undefined, tts: undefined, sts: undefined };
  const notes = spokenNotes({ getSpeech: async () => none, speech: { variables: {}, guardedFetch: fetch } });
  const key = { ownerId: "own_1", agentId: "agt_1" };
  const refusal = async (work: () => Promise<unknown>) => (await serviceErrorOf(Promise.try(work))).detail;
  expect(await refusal(() => notes.transcribe({ ...key, audio: TONE }, NEVER))).toContain("no STT configuration");
  expect(await refusal(() => notes.speak({ ...key, text: "Hi" }, NEVER))).toContain("no TTS configuration");
  expect(await refusal(() => notes.speak({ ...key, text: " " }, NEVER))).toContain("1 to 4096 characters");
  const large = new Uint8Array(2 * 1024 * 1024 + 1);
  expect(await refusal(() => notes.transcribe({ ...key, audio: large }, NEVER))).toContain("at most 2 MiB");
});
