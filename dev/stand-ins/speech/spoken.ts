import { resampler } from "@parley/shared/media/resample";
import { readWav } from "@parley/shared/media/wav";

/** Of what is spoken. */
export const SPOKEN_HZ = 16_000;
/** Of those that the stand-in has, the one that it understands best. */
const VOICE = "kal16";
const WITHIN_MS = 30_000;

/**
 * A text in the voice of the speech stand-in, SPOKEN_HZ samples a second.
 * @param speechUrl of an OpenAI audio API, with its version
 * @throws when nobody can speak
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
