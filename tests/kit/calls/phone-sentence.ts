import { readWav } from "@parley/dev/stand-ins/speech/wav.ts";
import { resampler } from "@parley/shared/media/resample";
import { PHONE_HZ } from "@parley/shared/phone/audio";
import type { RunningStack } from "../stack/use-stack.ts";
import { spokenSentence } from "./spoken-sentence.ts";

/** A sentence as a phone sends it, PHONE_HZ samples a second, in the voice of the stack's stand-in. */
export async function phoneSentence(stack: Pick<RunningStack, "address">, text: string): Promise<Int16Array> {
  const file = await spokenSentence(`http://${stack.address("speech")}/v1`, text, {
    beforeSeconds: 0,
    afterSeconds: 0,
  });
  const spoken = readWav(file);
  if (!spoken) throw new Error("the speech stand-in answered something other than its WAV");
  return resampler(16_000, PHONE_HZ)(spoken);
}
