import { expect, test } from "bun:test";
import { aLaw, muLaw } from "./g711.ts";

// From the tables of ITU-T G.711, scaled to 16 bits.
test.each([
  ["mu-law", muLaw, 0x00, -32_124],
  ["mu-law", muLaw, 0x80, 32_124],
  ["mu-law", muLaw, 0xff, 0],
  ["mu-law", muLaw, 0xe7, 260],
  ["A-law", aLaw, 0x2a, -32_256],
  ["A-law", aLaw, 0xaa, 32_256],
  ["A-law", aLaw, 0xd5, 8],
  ["A-law", aLaw, 0x55, -8],
] as const)("%s decodes a byte by the table", (_name, law, byte, sample) => {
  expect([...law.decode(Uint8Array.of(byte))]).toEqual([sample]);
});

test.each([
  ["mu-law", muLaw, 0xff],
  ["A-law", aLaw, 0xd5],
] as const)("%s encodes a sample as the byte that sounds nearest", (_name, law, silence) => {
  const everySample = Int16Array.from({ length: 65_536 }, (_, at) => at - 32_768);
  const decoded = law.decode(law.encode(everySample));
  for (const [at, sample] of everySample.entries()) {
    // Within half a quantization step, or at the end of the scale.
    expect(Math.abs((decoded[at] as number) - sample)).toBeLessThanOrEqual(Math.max(8, Math.abs(sample) / 30 + 4));
  }
  expect(law.silence).toBe(silence);
});
