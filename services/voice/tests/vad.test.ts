import { expect, test } from "bun:test";
import { join } from "node:path";
import { silentLogger } from "@parley/shared/log";
import { eventually } from "@parley/shared/testing/eventually";
import { FRAME_SAMPLES, type Pcm, SAMPLES_PER_SECOND } from "../src/audio/pcm.ts";
import type { VoiceDetector, VoiceEvent } from "../src/vad/detector.ts";
import { startSileroDetector } from "../src/vad/silero.ts";

/** "When do you open on Sunday?", spoken by flite. */
const SPOKEN = join(import.meta.dir, "fixtures/when-do-you-open.pcm");
const silence = (ms: number) => new Int16Array((SAMPLES_PER_SECOND / 1_000) * ms);

/** Sends audio as a leg does, as fast as the detector takes it. */
async function send(detector: VoiceDetector, parts: readonly Pcm[], heard: (event: VoiceEvent) => void) {
  const stream = detector.listen(heard);
  for (const part of parts) {
    for (let at = 0; at < part.length; at += FRAME_SAMPLES) {
      stream.send(part.subarray(at, at + FRAME_SAMPLES));
      // Slower than the detector, so that nothing is dropped.
      if (at % (10 * FRAME_SAMPLES) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  return stream;
}

test("a spoken sentence begins and ends, and silence and a hum are no speech", async () => {
  const detector = await startSileroDetector(silentLogger);
  try {
    const spoken = new Int16Array(await Bun.file(SPOKEN).arrayBuffer());
    const hum = silence(1_000).map((_, at) =>
      Math.round(3_000 * Math.sin((2 * Math.PI * 120 * at) / SAMPLES_PER_SECOND)),
    );
    const [speech, noise]: VoiceEvent["type"][][] = [[], []];
    const streams = await Promise.all([
      send(detector, [silence(300), spoken, silence(1_000)], ({ type }) => speech?.push(type)),
      send(detector, [silence(300), hum, silence(1_000)], ({ type }) => noise?.push(type)),
    ]);
    await eventually(() => {
      expect(speech?.at(0)).toBe("speech_began");
      expect(speech?.at(-1)).toBe("speech_ended");
    });
    expect(noise).toEqual([]);
    for (const stream of streams) stream.close();
  } finally {
    await detector.close();
  }
});

test("a detector that is closed while it judges leaves the process alive", async () => {
  const detector = await startSileroDetector(silentLogger);
  const streams = Array.from({ length: 8 }, () => detector.listen(() => {}));
  for (const stream of streams) stream.send(silence(900));
  await detector.close();
});
