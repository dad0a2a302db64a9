import { type Pcm, SAMPLES_PER_SECOND } from "../../src/audio/pcm.ts";
import type { SpeechToSpeech } from "../../src/speech/sts.ts";
import type { TextToSpeech } from "../../src/speech/tts.ts";
import type { VoiceDetector } from "../../src/vad/detector.ts";
import { tone } from "../listening.ts";
import { type ScriptedHearing, scriptedHearing } from "./scripted-speech.ts";
import { scriptedSts } from "./scripted-sts.ts";

// Speech without words: whoever speaks is a tone, and whoever listens hears that something was said.

/** Louder than any noise behind a tone. */
const isLoud = (audio: Pcm) => audio.some((sample) => Math.abs(sample) > 10_000);

/** Says any text as a tone of 400 ms. */
export function toneVoice(): TextToSpeech {
  return {
    speak: ({ signal }, spoken) => ({
      say: () => queueMicrotask(() => signal.aborted || spoken({ type: "audio", audio: tone(440, 0.4) })),
      end: () => queueMicrotask(() => signal.aborted || spoken({ type: "done" })),
    }),
  };
}

/** Hears the next text in each tone. */
export function toneHearing(texts: readonly string[]): ScriptedHearing {
  const scripted = scriptedHearing(null);
  let heard = 0;
  return {
    ...scripted,
    listen: (options, tell) => {
      let isNew = false;
      return {
        ...scripted.listen(options, tell),
        send: (audio) => {
          isNew ||= isLoud(audio);
        },
        finalize: () => {
          if (isNew) tell({ type: "final", text: texts[heard++] ?? "what" });
          isNew = false;
          tell({ type: "finalized" });
        },
      };
    },
  };
}

/** A model that hears a text in each tone, once it is over, and answers it. */
export function toneSts(recognized: string, answer: string): SpeechToSpeech {
  const sts = scriptedSts();
  return {
    converse: (options, tell) => {
      const session = sts.converse(options, tell);
      const stream = levelDetector().listen(({ type }) => {
        if (type === "speech_began") return tell({ type: "user_began" });
        tell({ type: "user_said", text: recognized });
        sts.speaks(answer, 16_000);
        tell({ type: "done" });
      });
      return { ...session, send: stream.send };
    },
  };
}

/** A tone that a busy machine plays with gaps is one tone. */
const SILENT_MS = 1_000;
const SILENT_SAMPLES = (SAMPLES_PER_SECOND * SILENT_MS) / 1_000;

/** Takes whatever is loud for a voice. */
export function levelDetector(): VoiceDetector {
  return {
    listen: (heard) => {
      let isSpeaking = false;
      let silent = 0;
      return {
        send: (audio) => {
          silent = isLoud(audio) ? 0 : silent + audio.length;
          if (silent === 0 && !isSpeaking) heard({ type: "speech_began", agoMs: 20 });
          if (silent >= SILENT_SAMPLES && isSpeaking) heard({ type: "speech_ended", agoMs: SILENT_MS });
          isSpeaking = silent === 0 || (isSpeaking && silent < SILENT_SAMPLES);
        },
        close: () => {},
      };
    },
  };
}
