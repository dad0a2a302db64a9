import { expect, test } from "bun:test";
import { keyReader, keysOnce } from "./dtmf.ts";

test("a key is read once, whichever of its packets arrive", () => {
  const keyOf = keyReader();
  const event = (key: number, timestamp: number, isEnd: boolean) =>
    keyOf({ ...EVENT, timestamp, payload: Uint8Array.of(key, isEnd ? 0x8a : 0x0a, 0, 160) });
  expect([event(5, 100, false), event(5, 100, false), event(5, 100, true)]).toEqual(["5", null, null]);
  expect([event(11, 900, true), event(11, 900, true)]).toEqual(["#", null]);
  expect(event(5, 2_000, true)).toBe("5");
  expect(event(99, 3_000, true)).toBeNull();
});

/** The keys of a stream whose packets come every 20 ms: the key, its timestamp, its duration, and whether it ends. */
function keysOf(packets: readonly (readonly [key: number, timestamp: number, duration: number, isOver?: boolean])[]) {
  const keyOf = keyReader();
  return packets.flatMap(([key, timestamp, duration, isOver = false], sequence) => {
    const payload = Uint8Array.of(key, isOver ? 0x8a : 0x0a, duration >> 8, duration & 0xff);
    return keyOf({ ...EVENT, sequence, timestamp: timestamp >>> 0, payload }) ?? [];
  });
}

/** A key of 100 ms whose timestamps grow, as they should not. */
const growing = (key: number, start: number) =>
  [0, 1, 2, 3, 4, 5, 6].map((at) => [key, start + 160 * at, Math.min(at + 1, 5) * 160, at >= 4] as const);

test.each([
  ["once", [growing(5, 1_000)], ["5"]],
  ["twice", [growing(5, 1_000), growing(5, 2_600)], ["5", "5"]],
  ["over the end of the timestamps", [growing(5, -400)], ["5"]],
  ["with its start lost", [growing(5, 1_000).slice(2)], ["5"]],
  ["with its end lost, and then again", [growing(5, 1_000).slice(0, 4), growing(5, 2_600)], ["5", "5"]],
  ["before another", [growing(5, 1_000).slice(0, 3), growing(6, 1_480)], ["5", "6"]],
])("a key whose timestamps grow with each packet and that is pressed %s is read so often", (_how, keys, right) => {
  expect(keysOf(keys.flat())).toEqual(right);
});

test("a key that is held for so long that it comes in segments is one key", () => {
  const segments = [0, 65_535, 131_070].flatMap((start) =>
    [160, 30_000, 65_535].map((duration) => [7, 1_000 + start, duration] as const),
  );
  expect(keysOf([...segments, [7, 197_605, 800, true], [7, 199_000, 160]])).toEqual(["7", "7"]);
});

test("a key that is pressed again is another one, even if the end of the first is lost", () => {
  expect(
    keysOf([
      [5, 1_000, 160],
      [5, 1_000, 320],
      [5, 1_900, 160],
      [5, 1_900, 320, true],
    ]),
  ).toEqual(["5", "5"]);
});

test("a packet of a key that arrives after the next key is not another key", () => {
  const keyOf = keyReader();
  const event = (key: number, timestamp: number) =>
    keyOf({ ...EVENT, timestamp, payload: Uint8Array.of(key, 0x8a, 0, 160) });
  expect([event(1, 0xffff_ff00), event(2, 900), event(1, 0xffff_ff00), event(2, 900), event(3, 1_700)]).toEqual([
    "1",
    "2",
    null,
    null,
    "3",
  ]);
  // The phone's timestamps start over, as some do after a hold.
  expect(event(4, 3_000_000_000)).toBe("4");
});

test("a key that is reported in the audio and by signaling is one key, as often as it is pressed", () => {
  const { keys, press } = pressing();
  for (const source of ["audio", "signaling", "signaling", "audio"] as const) press(source, "1");
  press("audio", "2");
  press("audio", "3");
  press("audio", "3");
  for (const key of ["2", "3", "3"]) press("signaling", key);
  expect(keys).toEqual(["1", "1", "2", "3", "3"]);
});

test("a key of which one report is lost counts once too", () => {
  const { keys, press } = pressing();
  press("signaling", "1");
  press("audio", "2");
  press("signaling", "2");
  press("audio", "3");
  expect(keys).toEqual(["1", "2", "3"]);
});

test("a key from the other source is another press when the first report is long past", () => {
  const { keys, press, wait } = pressing();
  press("audio", "1");
  wait(6_000);
  press("signaling", "1");
  expect(keys).toEqual(["1", "1"]);
});

function pressing() {
  const keys: string[] = [];
  let now = 0;
  const press = keysOnce(
    (key) => keys.push(key),
    () => now,
  );
  return { keys, press, wait: (ms: number) => (now += ms) };
}

const EVENT = { payloadType: 101, marker: false, sequence: 1, ssrc: 1 };
