import { SAMPLES_PER_SECOND } from "../../src/audio/pcm.ts";
import type { SpeechEvent, SpeechToText } from "../../src/speech/stt.ts";
import type { SpokenEvent, TextToSpeech } from "../../src/speech/tts.ts";
import type { VoiceDetector, VoiceEvent } from "../../src/vad/detector.ts";

export interface ScriptedHearing extends SpeechToText {
  /** Reports an event as a provider would. */
  report(event: SpeechEvent): void;
  finalized: number;
  language: string | undefined;
  isOpen: boolean;
}

/** @param answers the answer to `finalize`; null: none */
export function scriptedHearing(answers: "finalized" | null = "finalized"): ScriptedHearing {
  let to: (event: SpeechEvent) => void = () => {};
  const hearing: ScriptedHearing = {
    endsTurns: false,
    finalized: 0,
    language: undefined,
    isOpen: false,
    report: (event) => to(event),
    listen: (_options, heard) => {
      to = heard;
      hearing.isOpen = true;
      return {
        send: () => {},
        finalize: () => {
          hearing.finalized++;
          if (answers) queueMicrotask(() => heard({ type: "finalized" }));
        },
        setLanguage: (language) => {
          hearing.language = language;
        },
        close: () => {
          hearing.isOpen = false;
        },
      };
    },
  };
  return hearing;
}

export interface ScriptedVoice extends TextToSpeech {
  /** The text of each request. */
  said: string[];
  languages: (string | undefined)[];
}

/** How long a scripted voice takes for a word, in milliseconds. */
export const WORD_MS = 200;

/**
 * A voice that takes 200 ms for each word, timed word by word. Its samples are the number of the request.
 * @param fails whether a text cannot be spoken; `stall`: its audio never arrives
 */
export function scriptedVoice(fails: (text: string) => "fail" | "stall" | null = () => null): ScriptedVoice {
  const said: string[] = [];
  const languages: (string | undefined)[] = [];
  return {
    said,
    languages,
    speak: ({ signal, language }, spoken) => {
      const number = said.push("");
      languages.push(language);
      let endMs = 0;
      let isStalled = false;
      const tell = (event: SpokenEvent) => queueMicrotask(() => signal.aborted || spoken(event));
      return {
        say: (text) => {
          said[number - 1] += text;
          const failure = fails(text);
          if (failure === "fail") return tell({ type: "failed", error: new Error("no voice") as never });
          if (failure === "stall") isStalled = true;
          if (isStalled) return;
          for (const [word] of text.matchAll(/\s*\S+\s*/g)) {
            endMs += WORD_MS;
            tell({ type: "audio", audio: new Int16Array((SAMPLES_PER_SECOND * WORD_MS) / 1_000).fill(number) });
            tell({ type: "timing", text: word, endMs });
          }
        },
        end: () => isStalled || tell({ type: "done" }),
      };
    },
  };
}

export interface ScriptedDetector extends VoiceDetector {
  report(event: VoiceEvent): void;
}

export function scriptedDetector(): ScriptedDetector {
  let to: (event: VoiceEvent) => void = () => {};
  return {
    report: (event) => to(event),
    listen: (heard) => {
      to = heard;
      return { send: () => {}, close: () => {} };
    },
  };
}
