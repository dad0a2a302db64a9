import { expect, test } from "bun:test";
import { keyReader } from "./dtmf.ts";
import { keypad } from "./keypad.ts";

/** What goes out until all keys are pressed: how many frames each packet's key has lasted, or a pause. */
function sent(keys: string) {
  const pad = keypad();
  void pad.press(keys);
  const frames: ReturnType<typeof pad.next>[] = [];
  for (let next = pad.next(); next !== null; next = pad.next()) frames.push(next);
  return frames;
}

test("a key lasts 120 ms, says three times that it ends, and is followed by silence", () => {
  expect(sent("5").map((frame) => (frame && frame !== "pause" ? [frame.frames, frame.isEnd] : frame))).toEqual([
    ...[1, 2, 3, 4, 5].map((frames) => [frames, false]),
    ...[6, 6, 6].map((frames) => [frames, true]),
    "pause",
    "pause",
  ]);
});

test("w is a pause of half a second", () => {
  expect(sent("w")).toEqual(new Array(25).fill("pause"));
});

test("whoever reads telephone events reads every key once, also the same one twice in a row", () => {
  const keyOf = keyReader();
  let since = 0;
  const read = sent("11w*0#").flatMap((frame, at) => {
    if (!frame || frame === "pause") return [];
    if (frame.isFirst) since = at * 160;
    const duration = frame.frames * 160;
    const payload = Uint8Array.of(frame.event, frame.isEnd ? 0x8a : 0x0a, duration >> 8, duration & 0xff);
    const packet = { payloadType: 101, marker: frame.isFirst, sequence: at, timestamp: since, ssrc: 1, payload };
    return keyOf(packet) ?? [];
  });
  expect(read.join("")).toBe("11*0#");
});

test("keys that are not pressed when the call ends are reported as such", async () => {
  const pad = keypad();
  const pressing = pad.press("1");
  pad.close();
  await expect(pressing).rejects.toThrow("The call ended before all keys were pressed");
  await expect(pad.press("2")).rejects.toThrow("The call ended");
});
