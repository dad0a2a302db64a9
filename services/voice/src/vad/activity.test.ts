import { expect, test } from "bun:test";
import fc from "fast-check";
import { judgeWindow, SILENT, WINDOW_MS } from "./activity.ts";
import type { VoiceEvent } from "./detector.ts";

/** @param loud the loudness of each window's halves; absent: as loud as the room */
function judge(probabilities: readonly number[], loud: readonly [number, number][] = []) {
  let activity = SILENT;
  return probabilities.flatMap((probability, at): (VoiceEvent & { at: number })[] => {
    const judged = judgeWindow(activity, { probability, loudness: loud[at] ?? [50, 50] });
    activity = judged.activity;
    return judged.event ? [{ ...judged.event, at }] : [];
  });
}

const [ROOM, VOICE] = [50, 2_000];

test("speech begins with its second window and ends with the fourth silent one, each told with its age", () => {
  const loud = Array.from({ length: 8 }, (_, at): [number, number] => (at === 0 ? [ROOM, ROOM] : [VOICE, VOICE]));
  expect(judge([0, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1], loud)).toEqual([
    { type: "speech_began", agoMs: 2 * WINDOW_MS, at: 2 },
    { type: "speech_ended", agoMs: 4 * WINDOW_MS, at: 7 },
  ]);
});

test("a voice ends when it was last louder than the room, however long the detector lingers", () => {
  const quiet: [number, number] = [ROOM, ROOM];
  const loud: [number, number][] = [
    quiet,
    [VOICE, VOICE],
    [VOICE, VOICE],
    [VOICE, ROOM],
    quiet,
    quiet,
    quiet,
    quiet,
    quiet,
  ];
  const events = judge([0, 0.9, 0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1], loud);
  expect(events.at(-1)).toEqual({ type: "speech_ended", agoMs: 5.5 * WINDOW_MS, at: 8 });
});

test("a voice begins when it becomes louder than the room, if it was not loud before", () => {
  const quiet: [number, number] = [ROOM, ROOM];
  const loud: [number, number] = [VOICE, VOICE];
  const missed = judge([0, 0, 0.2, 0.9, 0.9], [quiet, [ROOM, VOICE], loud, loud, loud]);
  expect(missed).toEqual([{ type: "speech_began", agoMs: 3.5 * WINDOW_MS, at: 4 }]);
  const noise = Array.from({ length: 20 }, () => loud);
  const [began] = judge([0, ...noise.map(() => 0.2), 0.9, 0.9], [quiet, ...noise, loud, loud]);
  expect(began?.agoMs).toBe(2 * WINDOW_MS);
});

test("a voice that begins before the room's level is known, or is as quiet as the room, ends as the detector says", () => {
  expect(judge([0.9, 0.9, 0.9, 0.1, 0.1, 0.1, 0.1]).at(-1)).toMatchObject({ agoMs: 4 * WINDOW_MS });
  const soft = Array.from({ length: 40 }, () => 0.9);
  expect(judge([0, ...soft, 0.1, 0.1, 0.1, 0.1]).at(-1)).toMatchObject({ agoMs: 4 * WINDOW_MS });
});

test("a click is not speech, and a quiet moment in a word is not silence", () => {
  expect(judge([0, 0.9, 0, 0.9, 0])).toEqual([]);
  expect(judge([0.9, 0.9, 0.1, 0.1, 0.1, 0.4, 0.1, 0.1, 0.1])).toHaveLength(1);
});

test("beginnings and ends alternate, whatever the probabilities", () => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true })), (probabilities) => {
      const types = judge(probabilities).map(({ type }) => type);
      for (const [at, type] of types.entries()) expect(type).toBe(at % 2 === 0 ? "speech_began" : "speech_ended");
    }),
  );
});
