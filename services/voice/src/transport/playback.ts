import { FRAME_SAMPLES, type Pcm } from "../audio/pcm.ts";

/** What a leg that paces by itself still has to play. */
export interface Playback {
  play(audio: Pcm): void;
  clear(): void;
  mark(name: string): void;
  /** The next frame and the marks that are reached once it is heard; null if nothing is queued. The end of the audio is padded with silence. */
  nextFrame(): { frame: Pcm; reached: string[] } | null;
  /** Samples taken by `nextFrame`, without padding. */
  heardSamples(): number;
  queuedSamples(): number;
}

/**
 * Audio that is queued at most; more is dropped. A reply is cut off long before, and a speech provider that sends without end must not
 * fill the memory.
 */
const QUEUED_MAX_SAMPLES = 16_000 * 600;
/**
 * Samples that are kept together, however small the pieces are in which they arrive: an array of one sample takes more than a hundred
 * times the memory of the sample.
 */
const BLOCK_SAMPLES = 5 * FRAME_SAMPLES;

/** Audio from `from` up to `to`; further audio may follow behind it. */
interface Block {
  samples: Pcm;
  from: number;
  to: number;
}

export function playback(): Playback {
  let queue: (Block | string)[] = [];
  let queued = 0;
  let heard = 0;

  const reachedAtFront = () => {
    const audioAt = queue.findIndex((entry) => typeof entry !== "string");
    return queue.splice(0, audioAt < 0 ? queue.length : audioAt) as string[];
  };

  /** The last block if it has room, or a new one. */
  const blockWithRoom = () => {
    const last = queue.at(-1);
    if (last !== undefined && typeof last !== "string" && last.to < BLOCK_SAMPLES) return last;
    const block = { samples: new Int16Array(BLOCK_SAMPLES), from: 0, to: 0 };
    queue.push(block);
    return block;
  };

  return {
    play: (audio) => {
      const taken = audio.subarray(0, QUEUED_MAX_SAMPLES - queued);
      for (let at = 0; at < taken.length; ) {
        const block = blockWithRoom();
        const part = taken.subarray(at, at + BLOCK_SAMPLES - block.to);
        block.samples.set(part, block.to);
        block.to += part.length;
        at += part.length;
      }
      queued += taken.length;
    },
    clear: () => {
      queue = [];
      queued = 0;
    },
    mark: (name) => void queue.push(name),
    nextFrame: () => {
      if (queue.length === 0) return null;
      const frame = new Int16Array(FRAME_SAMPLES);
      const reached: string[] = reachedAtFront();
      let filled = 0;
      while (filled < FRAME_SAMPLES && queue.length > 0) {
        const block = queue[0] as Block;
        const part = block.samples.subarray(block.from, Math.min(block.to, block.from + FRAME_SAMPLES - filled));
        frame.set(part, filled);
        filled += part.length;
        block.from += part.length;
        if (block.from === block.to) queue.shift();
        reached.push(...reachedAtFront());
      }
      queued -= filled;
      heard += filled;
      return { frame, reached };
    },
    heardSamples: () => heard,
    queuedSamples: () => queued,
  };
}
