import { oggWriter } from "@parley/shared/media/ogg-writer";
import { FRAME_SAMPLES, framesOf, speechOpus } from "../speech/opus.ts";
import { SPOKEN_HZ, spoken } from "../speech/spoken.ts";

/** Opus' own delay, which players skip. */
const LEAD_SAMPLES = (SPOKEN_HZ * 65) / 10_000;

/** A text as a customer's voice message: an Ogg file of Opus, as WhatsApp's apps record it. @throws when no speech is available */
export async function voiceNote(speechUrl: string, text: string): Promise<Uint8Array> {
  const file = oggWriter({ channels: 1, samplesPerSecond: SPOKEN_HZ, leadSamples: LEAD_SAMPLES });
  const { encode } = speechOpus();
  const pages = [file.head()];
  for (const frame of framesOf(await spoken(speechUrl, text))) {
    const page = file.add(encode(frame), FRAME_SAMPLES);
    if (page) pages.push(page);
  }
  return Buffer.concat([...pages, file.end()]);
}
