import { resampler } from "@parley/shared/media/resample";
import { readWav } from "@parley/shared/media/wav";
import { PHONE_HZ } from "@parley/shared/phone/audio";

/** The sample rate of what is spoken. */
export const SPOKEN_HZ = 16_000;
/** The one of the stand-in's voices that it understands best itself. */
const VOICE = "kal16";
const WITHIN_MS = 30_000;

/**
 * A text in the voice of the speech stand-in, SPOKEN_HZ samples a second.
 * @param speechUrl of an OpenAI audio API, with its version
 * @throws when no speech is available
 */
export async function spoken(speechUrl: string, input: string): Promise<Int16Array> {
  const response = await fetch(`${speechUrl}/audio/speech`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: "flite", voice: VOICE, input, response_format: "wav" }),
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  const wav = response.ok ? readWav(await response.bytes()) : null;
  if (!wav) throw new Error(`The speech stand-in at ${speechUrl} could not speak (${response.status})`);
  return resampler(wav.samplesPerSecond, SPOKEN_HZ)(wav.samples);
}

/** The same for a phone, PHONE_HZ samples a second. A second of silence if no speech is available: a call continues without words. */
export async function spokenOnPhone(speechUrl: string, input: string): Promise<Int16Array> {
  try {
    return resampler(SPOKEN_HZ, PHONE_HZ)(await spoken(speechUrl, input));
  } catch {
    return new Int16Array(PHONE_HZ);
  }
}
