import type { Pcm } from "../../audio/pcm.ts";

/** The end of what a user said, addressed by samples since the call began. */
interface AudioTail {
  /** The first sample after the end. */
  end(): number;
  push(audio: Pcm): void;
  /** The samples that are kept from this one on. */
  from(position: number): { audio: Pcm; position: number };
  /** Drops what comes before this sample. */
  forget(position: number): void;
}

/** Keeps at most `samplesMax`, the newest. */
export function audioTail(samplesMax: number): AudioTail {
  const pieces: Pcm[] = [];
  let begin = 0;
  let end = 0;
  const dropUntil = (position: number) => {
    for (let first = pieces[0]; first && begin + first.length <= position; first = pieces[0]) {
      begin += first.length;
      pieces.shift();
    }
  };
  return {
    end: () => end,
    push: (audio) => {
      pieces.push(audio);
      end += audio.length;
      dropUntil(end - samplesMax);
    },
    from: (position) => {
      const start = Math.min(Math.max(position, begin), end);
      const audio = new Int16Array(end - start);
      // From the end, because usually only the newest piece is wanted.
      for (let index = pieces.length - 1, to = end; index >= 0 && to > start; index--) {
        const piece = pieces[index] as Pcm;
        const at = to - piece.length;
        audio.set(piece.subarray(Math.max(0, start - at)), Math.max(0, at - start));
        to = at;
      }
      return { audio, position: start };
    },
    forget: dropUntil,
  };
}
