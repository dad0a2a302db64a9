import { expect, test } from "bun:test";
import { rtpAudio } from "./audio.ts";

test.each([
  ["small packets", 160],
  ["large packets", 60_000],
])("%s that arrive faster than any phone sends them are dropped before they are decoded", (_what, bytes) => {
  let decoded = 0;
  let dropped = 0;
  const audio = rtpAudio(
    { send: () => {}, dropped: () => dropped++ },
    { heard: () => {}, reached: () => {}, sending: (frame) => frame },
  );
  const decode = ({ length }: Uint8Array) => {
    decoded += length;
    return new Int16Array(320);
  };
  audio.use({ payloadType: 0, clockHz: 8_000, encode: () => new Uint8Array(160), decode }, true);
  const packet = { payloadType: 0, marker: false, timestamp: 0, ssrc: 1, payload: new Uint8Array(bytes) };
  for (let sequence = 0; sequence < 5_000; sequence++) audio.receive({ ...packet, sequence });
  audio.close();
  expect(decoded).toBeLessThan(500_000);
  expect(dropped).toBeGreaterThan(3_000);
});
