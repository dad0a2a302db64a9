import { Encoder } from "@evan/opus";
import { oggWriter } from "@parley/shared/media/ogg-writer";
import { LEAD_SAMPLES } from "../audio/opus.ts";
import { FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../audio/pcm.ts";

/** Encodes a call as Ogg Opus: the user on the left, the agent on the right. */
interface StereoFile {
  /** The next frames of both. Returns what to write, if a page is full. */
  add(user: Pcm, agent: Pcm): Uint8Array | null;
  end(): Uint8Array;
}

export const MEDIA_TYPE = "audio/ogg; codecs=opus";

const BITRATE = 32_000;
/** From 5 on, the channels are separated by more than 40 dB; encoding a second of both takes 2 ms. */
const COMPLEXITY = 5;

export function stereoFile(): StereoFile {
  const encoder = new Encoder({ channels: 2, sample_rate: SAMPLES_PER_SECOND, application: "audio" });
  encoder.complexity = COMPLEXITY;
  encoder.bitrate = BITRATE;
  const ogg = oggWriter({ channels: 2, samplesPerSecond: SAMPLES_PER_SECOND, leadSamples: LEAD_SAMPLES });
  let head: Uint8Array | null = ogg.head();

  const withHead = (page: Uint8Array) => {
    const bytes = head ? Buffer.concat([head, page]) : page;
    head = null;
    return bytes;
  };

  return {
    add: (user, agent) => {
      const both = new Int16Array(2 * FRAME_SAMPLES);
      for (let at = 0; at < FRAME_SAMPLES; at++) {
        both[2 * at] = user[at] ?? 0;
        both[2 * at + 1] = agent[at] ?? 0;
      }
      // A copy, because the encoder reuses its memory.
      const page = ogg.add(encoder.encode(both).slice(), FRAME_SAMPLES);
      return page && withHead(page);
    },
    end: () => withHead(ogg.end()),
  };
}
