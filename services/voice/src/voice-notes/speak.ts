import { ServiceError } from "@parley/shared/errors";
import { oggWriter } from "@parley/shared/media/ogg-writer";
import { framer } from "../audio/frames.ts";
import { LEAD_SAMPLES, opus } from "../audio/opus.ts";
import { FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import { speakWhole } from "../speech/speak-whole.ts";
import type { SpeakOptions, TextToSpeech } from "../speech/tts.ts";
import { sentenceCutter } from "../turn/sentences.ts";
import { SPEAKABLE, speakable } from "../turn/speakable.ts";

/** WhatsApp plays a larger one only after a download. */
const BYTES_MAX = 512 * 1024;

/**
 * Speaks a text as a voice note, an Ogg file of Opus.
 * @throws ServiceError condition for a text that is too long for a note or has no words; what the provider fails with
 */
export async function speakNote(
  voice: TextToSpeech,
  text: string,
  options: Omit<SpeakOptions, "signal">,
  gone: AbortSignal,
  bytesMax = BYTES_MAX,
): Promise<Uint8Array> {
  const file = oggWriter({ channels: 1, samplesPerSecond: SAMPLES_PER_SECOND, leadSamples: LEAD_SAMPLES });
  const pages = [file.head()];
  const encoder = opus();
  let bytes = 0;
  const toFrames = framer((frame) => {
    const packet = encoder.encode(frame).slice();
    bytes += packet.length;
    if (bytes > bytesMax) throw new ServiceError("condition", "The text is too long for a voice note");
    const page = file.add(packet, FRAME_SAMPLES);
    if (page) pages.push(page);
  });
  const reply = speakable();
  const words = reply.push(text) + reply.end();
  if (!SPEAKABLE.test(words)) throw new ServiceError("condition", "The text has no words to speak");
  const cutter = sentenceCutter();
  const sentences = [...cutter.push(words), cutter.end()];
  const take = (audio: Pcm) => {
    toFrames(audio);
    return false;
  };
  await speakWhole(voice, { sentences, options, take }, gone);
  // The last frame is filled up with silence.
  toFrames(new Int16Array(FRAME_SAMPLES - 1));
  return Buffer.concat([...pages, file.end()]);
}
