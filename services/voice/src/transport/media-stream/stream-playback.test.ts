import { expect, test } from "bun:test";
import { FRAME_SAMPLES, type Pcm } from "../../audio/pcm.ts";
import { streamPlayback } from "./stream-playback.ts";

const SECOND = 16_000;

/** A player whose carrier only records what it is sent; time moves when a test says so. */
function playing(sending = (frame: Pcm | null): Pcm | null => frame) {
  let now = 0;
  const sent: string[] = [];
  const reached: string[] = [];
  const player = streamPlayback({
    media: () => sent.push("media"),
    mark: (name) => sent.push(`mark ${name}`),
    clear: () => sent.push("clear"),
    reached: (mark) => reached.push(mark),
    sending,
    now: () => now,
  });
  const pass = (ms: number) => {
    for (let passed = 0; passed < ms; passed += 20) {
      now += 20;
      player.tick();
    }
  };
  const marks = () => sent.filter((each) => each.startsWith("mark ")).map((each) => each.slice(5));
  const sentFrames = () => sent.filter((each) => each === "media").length;
  return { player, sent, reached, pass, marks, sentFrames };
}

test("audio is sent as it is due, a fifth of a second ahead at most", () => {
  const { player, pass, sentFrames } = playing();
  player.play(new Int16Array(SECOND));
  pass(20);
  expect(sentFrames()).toBe(10);
  pass(300);
  expect(sentFrames()).toBe(25);
  expect(player.heardSamples()).toBe(15 * FRAME_SAMPLES);
  expect(player.heardSamples() + player.queuedSamples()).toBe(SECOND);
});

test("a background sound is sent even in silence, and does not count as heard", () => {
  const sound = new Int16Array(FRAME_SAMPLES).fill(1);
  const { player, pass, sentFrames } = playing((frame) => frame ?? sound);
  pass(1_000);
  expect(sentFrames()).toBe(59);
  expect(player.heardSamples()).toBe(0);
  player.play(new Int16Array(5 * FRAME_SAMPLES));
  player.mark("said");
  pass(220);
  expect(player.heardSamples()).toBe(FRAME_SAMPLES);
  pass(1_000);
  expect(player.heardSamples()).toBe(5 * FRAME_SAMPLES);
  player.play(new Int16Array(5 * FRAME_SAMPLES));
  pass(20);
  expect(player.heardSamples()).toBe(5 * FRAME_SAMPLES);
  player.clear();
  expect(player.heardSamples()).toBe(5 * FRAME_SAMPLES);
});

test("audio that the carrier had not played when it was cleared was not heard, and its marks are never reached", () => {
  const { player, pass, sent, reached, marks } = playing();
  player.play(new Int16Array(2 * FRAME_SAMPLES));
  player.mark("said");
  player.play(new Int16Array(SECOND));
  pass(20);
  player.clear();
  expect(sent.at(-1)).toBe("clear");
  expect(player.heardSamples()).toBe(0);
  expect(player.queuedSamples()).toBe(0);
  // Carriers also report the marks of audio that they dropped.
  player.marked(marks()[0] ?? "");
  pass(3_000);
  expect(reached).toEqual([]);
});

test("a carrier with an empty queue is not asked to clear it", () => {
  const { player, pass, sent, marks } = playing();
  player.play(new Int16Array(FRAME_SAMPLES));
  player.mark("said");
  pass(60);
  player.marked(marks()[0] ?? "");
  player.clear();
  expect(sent).not.toContain("clear");
});

test("a mark is reached when the carrier has played up to it, with those before it", () => {
  const { player, pass, reached, marks } = playing();
  player.play(new Int16Array(FRAME_SAMPLES));
  player.mark("audible");
  player.play(new Int16Array(FRAME_SAMPLES));
  player.mark("said");
  pass(60);
  expect(reached).toEqual([]);
  const [, second = ""] = marks();
  player.marked(second);
  player.marked(second);
  player.marked("made up");
  expect(reached).toEqual(["audible", "said"]);
});

test("a mark that the carrier never reports is reached all the same, but late", () => {
  const { player, pass, reached } = playing();
  player.play(new Int16Array(FRAME_SAMPLES));
  player.mark("said");
  pass(2_000);
  expect(reached).toEqual([]);
  pass(60);
  expect(reached).toEqual(["said"]);
});

test("a carrier that plays later than estimated was heard less, and nothing that was heard is taken back", () => {
  const { player, pass, marks } = playing();
  player.play(new Int16Array(FRAME_SAMPLES));
  player.mark("audible");
  player.play(new Int16Array(SECOND));
  pass(320);
  const reckoned = player.heardSamples();
  expect(reckoned).toBe(15 * FRAME_SAMPLES);
  // Due at 40 ms, reported 280 ms later.
  player.marked(marks()[0] ?? "");
  expect(player.heardSamples()).toBe(reckoned);
  pass(320);
  expect(player.heardSamples()).toBe(17 * FRAME_SAMPLES);
});
