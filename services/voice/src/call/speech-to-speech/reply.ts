import { durationMs, FRAME_SAMPLES, type Pcm } from "../../audio/pcm.ts";
import type { Leg } from "../../transport/leg.ts";
import { heardText } from "../../turn/heard.ts";

/** One reply of a model on a leg, from its beginning until it has been heard. */
export interface Reply {
  id: number;
  play(audio: Pcm): void;
  text(text: string): void;
  /** Whether nothing of it can be heard yet. */
  isSilent(): boolean;
  /** Whether the model has said or written anything of it. */
  hasBegun(): boolean;
  /** The model has said everything, so far. */
  done(): void;
  /** What the leg has reached with a mark; null if the mark is not of this reply, or the model has continued since. */
  reached(mark: string): "audible" | "played" | null;
  /** The words that were heard, and their duration. */
  heard(): { text: string; ms: number };
  /** Everything that the model said. */
  whole(): string;
}

export function replyOn(leg: Leg, id: number): Reply {
  const from = leg.heardSamples();
  let text = "";
  let audioMs = 0;
  let isDone = false;
  let marks = 0;
  const audible = `audible ${id}`;
  const played = () => `played ${id} ${marks}`;

  return {
    id,
    play: (audio) => {
      isDone = false;
      if (audioMs === 0) {
        leg.play(audio.subarray(0, FRAME_SAMPLES));
        leg.mark(audible);
        leg.play(audio.subarray(FRAME_SAMPLES));
      } else {
        leg.play(audio);
      }
      audioMs += durationMs(audio.length);
    },
    text: (added) => {
      // Another answer, such as after a tool, begins with a new sentence.
      const gap = isDone && text !== "" && !/\s$/.test(text) ? " " : "";
      isDone = false;
      text += gap + added;
    },
    isSilent: () => audioMs === 0,
    hasBegun: () => audioMs > 0 || text !== "",
    done: () => {
      isDone = true;
      marks++;
      leg.mark(played());
    },
    reached: (mark) => {
      if (mark === audible) return "audible";
      return isDone && mark === played() ? "played" : null;
    },
    heard: () => {
      const ms = durationMs(leg.heardSamples() - from);
      return { text: heardText({ text, audioMs, isWhole: isDone, timings: [] }, ms).trim(), ms };
    },
    whole: () => text.trim(),
  };
}
