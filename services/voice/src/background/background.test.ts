import { expect, test } from "bun:test";
import { FRAME_SAMPLES, SAMPLES_PER_SECOND } from "../audio/pcm.ts";
import { backgroundOf, mixer } from "./background.ts";
import { soundOf } from "./sounds.ts";

const frame = (value: number) => new Int16Array(FRAME_SAMPLES).fill(value);

test("a sound is mixed into the voice at the set volume, and is heard alone in silence", () => {
  const sound = new Int16Array(1_000).fill(1_000);
  expect(mixer(sound, 0.5)(frame(2_000))).toEqual(frame(2_500));
  expect(mixer(sound, 0.5)(null)).toEqual(frame(500));
  expect(mixer(sound, 1)(frame(32_000))).toEqual(frame(32_767));
});

test("a sound continues where it stopped and loops at its end", () => {
  const sound = Int16Array.from({ length: 1_000 }, (_, at) => at);
  const mix = mixer(sound, 1);
  const heard = [mix(null), mix(null), mix(null), mix(null)].flatMap((each) => [...(each ?? [])]);
  const start = heard[0] ?? 0;
  expect(heard).toEqual(heard.map((_, at) => (start + at) % 1_000));
});

test("an agent has the sound that it names, and none if it names no known sound", async () => {
  const none = [null, { sound: "none", volume: 1 }, { sound: "waterfall", volume: 1 }, { sound: "office", volume: 0 }];
  for (const config of none) expect(await backgroundOf(config)).toBeNull();
  for (const config of [{}, { sound: "cafe", volume: 0.5 }])
    expect((await backgroundOf(config))?.(null)).not.toBeNull();
});

test.each(["office", "cafe", "street"] as const)(
  "%s is a sound of even loudness, without clipping and without a gap",
  async (name) => {
    const sound = await soundOf(name);
    const loudness = Array.from({ length: sound.length / SAMPLES_PER_SECOND }, (_, second) => {
      const part = sound.subarray(second * SAMPLES_PER_SECOND, (second + 1) * SAMPLES_PER_SECOND);
      return Math.sqrt(part.reduce((sum, sample) => sum + sample ** 2, 0) / part.length);
    });
    expect(Math.min(...loudness)).toBeGreaterThan(1_500);
    expect(Math.max(...loudness)).toBeLessThan(6_000);
    expect(sound.every((sample) => Math.abs(sample) < 32_767)).toBeTrue();
    const seam = Math.abs((sound[0] ?? 0) - (sound.at(-1) ?? 0));
    expect(seam).toBeLessThan(8_000);
    expect(await soundOf(name)).toBe(sound);
  },
);

test.each(["typing", "hold"] as const)("%s, which comes and goes, is never as loud as can be", async (name) => {
  const sound = await soundOf(name);
  expect(Math.max(...sound.map(Math.abs))).toBeWithin(5_000, 25_000);
});
