import { wavHeader } from "@parley/shared/media/wav";

/** Both sides of a call: the caller on the left, the agent on the right. */
export interface Recording {
  heard(frame: Int16Array): void;
  /** Adds the caller's audio, which paces the recording; the agent's audio of the same time goes beside it. */
  sent(frame: Int16Array): void;
  /** A WAV file. */
  file(): Uint8Array;
}

/** Longer recordings keep their beginning: two hours are 230 MB. */
const SECONDS_MAX = 2 * 60 * 60;
/** How long sound that is heard early waits at most, in frames. */
const WAITING_MAX = 10;

export function recording(samplesPerSecond: number): Recording {
  const frames: Int16Array[] = [];
  const waiting: Int16Array[] = [];
  let samples = 0;
  return {
    heard: (frame) => {
      waiting.push(frame);
      if (waiting.length > WAITING_MAX) waiting.shift();
    },
    sent: (frame) => {
      const heard = waiting.shift();
      if (samples >= SECONDS_MAX * samplesPerSecond) return;
      samples += frame.length;
      const both = new Int16Array(frame.length * 2);
      for (let at = 0; at < frame.length; at++) {
        both[2 * at] = frame[at] as number;
        both[2 * at + 1] = heard?.[at] ?? 0;
      }
      frames.push(both);
    },
    file: () => {
      const bytes = frames.map((frame) => new Uint8Array(frame.buffer));
      return Buffer.concat([wavHeader({ samplesPerSecond, channels: 2 }, samples * 4), ...bytes]);
    },
  };
}
