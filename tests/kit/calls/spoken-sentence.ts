import { readWav, wavHeader } from "@parley/dev/stand-ins/speech/wav.ts";

/** The stand-in's samples a second, in its voice and in the audio that it understands. */
const HZ = 16_000;

/** A sentence in the voice that the stand-in understands best, as a WAV file with silence around it. */
export async function spokenSentence(
  speechUrl: string,
  text: string,
  { beforeSeconds, afterSeconds }: { beforeSeconds: number; afterSeconds: number },
): Promise<Uint8Array> {
  const response = await fetch(`${speechUrl}/audio/speech`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ input: text, voice: "kal16" }),
  });
  if (!response.ok) throw new Error(`the speech stand-in answered ${response.status}: ${await response.text()}`);
  const spoken = readWav(new Uint8Array(await response.arrayBuffer()));
  if (!spoken) throw new Error("the speech stand-in answered something other than its WAV");
  const samples = new Int16Array(HZ * beforeSeconds + spoken.length + HZ * afterSeconds);
  samples.set(spoken, HZ * beforeSeconds);
  return Buffer.concat([wavHeader(samples.byteLength), new Uint8Array(samples.buffer)]);
}
