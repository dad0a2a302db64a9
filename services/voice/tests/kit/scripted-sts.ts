import { SAMPLES_PER_SECOND } from "../../src/audio/pcm.ts";
import type { ConverseOptions, SpeechToSpeech, SpokenTurnEvent } from "../../src/speech/sts.ts";
import { WORD_MS } from "./scripted-speech.ts";

export interface ScriptedSts extends SpeechToSpeech {
  options: ConverseOptions | null;
  /** What the model was made to say, the keys and tool results it got, and where it was interrupted. */
  said: string[];
  told: string[];
  answers: string[];
  interrupted: number[];
  /** What it was let know. */
  informed: string[];
  isMuted: boolean;
  /** How often it was made to answer what it had been told. */
  asked: number;
  /** The frames of the user that have arrived. */
  heardFrames: number;
  isOpen: boolean;
  report(event: SpokenTurnEvent): void;
  /** Says this at 200 ms a word, in audio whose samples have this value. */
  speaks(text: string, value?: number): void;
  /** Whether the model says what it is told to say. */
  obeys: boolean;
}

/** A model of which a test controls each session. */
export function stsSessions(): SpeechToSpeech & { all: ScriptedSts[]; newest(): ScriptedSts } {
  const all: ScriptedSts[] = [];
  return {
    all,
    newest: () => all.at(-1) as ScriptedSts,
    converse: (options, event) => {
      const session = scriptedSts();
      all.push(session);
      return session.converse(options, event);
    },
  };
}

/** A speech-to-speech model that a test controls. */
export function scriptedSts(): ScriptedSts {
  let to: (event: SpokenTurnEvent) => void = () => {};
  const sts: ScriptedSts = {
    options: null,
    said: [],
    told: [],
    answers: [],
    interrupted: [],
    informed: [],
    isMuted: false,
    asked: 0,
    heardFrames: 0,
    isOpen: false,
    obeys: true,
    report: (event) => to(event),
    speaks: (text, value = 1) => {
      for (const [word] of text.matchAll(/\s*\S+\s*/g)) {
        to({ type: "text", text: word });
        to({ type: "audio", audio: new Int16Array((SAMPLES_PER_SECOND * WORD_MS) / 1_000).fill(value) });
      }
    },
    converse: (options, event) => {
      sts.options = options;
      sts.isOpen = true;
      to = event;
      return {
        send: () => void sts.heardFrames++,
        say: (text) => {
          sts.said.push(text);
          if (!sts.obeys) return;
          queueMicrotask(() => {
            sts.speaks(text);
            to({ type: "done" });
          });
        },
        tell: (text, asks = true) => void sts.told.push(`${text}${asks ? "" : ", later"}`),
        inform: (text) => void sts.informed.push(text),
        mute: (isMuted) => {
          sts.isMuted = isMuted;
        },
        interrupt: (heardMs) => void sts.interrupted.push(heardMs),
        answer: (callId, result, asks) => void sts.answers.push(`${callId}: ${result}${asks ? "" : ", later"}`),
        ask: () => void sts.asked++,
        close: () => {
          sts.isOpen = false;
        },
      };
    },
  };
  return sts;
}
