import { expect, test } from "bun:test";
import fc from "fast-check";
import { heardText, type Spoken, syllablesOf } from "./heard.ts";

const TEXT = "We open at nine in the morning. Would you like to come?";

function spoken(given: Partial<Spoken>): Spoken {
  return { text: TEXT, audioMs: 4_000, isWhole: true, timings: [], ...given };
}

test("with a provider's timings, exactly the words up to the cut were heard", () => {
  const timings = [
    { characters: 2, endMs: 200 },
    { characters: 7, endMs: 600 },
    { characters: 10, endMs: 750 },
    { characters: 15, endMs: 1_200 },
  ];
  expect(heardText(spoken({ timings }), 1_250)).toBe("We open at nine");
  expect(heardText(spoken({ timings }), 1_199)).toBe("We open at");
  expect(heardText(spoken({ timings }), 100)).toBe("");
});

test("a sentence timed as a whole is cut by syllables", () => {
  const timings = [{ characters: 31, endMs: 2_000 }];
  const heard = heardText(spoken({ timings }), 1_200);
  expect(heard).toBe("We open at nine");
});

test("without timings a voice speaks 3.8 syllables a second", () => {
  expect(heardText(spoken({ isWhole: false, audioMs: 10_000 }), 1_400)).toBe("We open at nine");
});

test("all of the audio means all of the text", () => {
  expect(heardText(spoken({}), 4_000)).toBe(TEXT);
  expect(heardText(spoken({ timings: [{ characters: 10, endMs: 900 }] }), 4_000)).toBe(TEXT);
});

test("what was heard is a prefix of the text that ends with a word, and it grows over time", () => {
  const words = fc.array(fc.constantFrom("nine", "o'clock,", "Ärger", "1995", "語語", "मुझे", "a", "-", "x.", "😀"), {
    maxLength: 20,
  });
  const timing = fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.double({ min: 0, max: 1, noNaN: true }));
  fc.assert(
    fc.property(words, fc.array(timing), fc.boolean(), fc.nat(5_000), fc.nat(5_000), (given, times, isWhole, a, b) => {
      const text = given.join(" ");
      const audioMs = 5_000;
      const ends = times.map(([, at]) => at).sort();
      const timings = times
        .map(([at]) => Math.floor(at * text.length))
        .sort((x, y) => x - y)
        .map((characters, at) => ({ characters, endMs: (ends[at] ?? 0) * audioMs }));
      const said = { text, audioMs, isWhole, timings };
      const [less, more] = [heardText(said, Math.min(a, b)), heardText(said, Math.max(a, b))];
      expect(text.startsWith(more)).toBe(true);
      expect(more.startsWith(less)).toBe(true);
    }),
  );
});

test("syllable counts are close to what people count", () => {
  expect(["make", "morning", "area", "nine", "open", "12", "語", "-"].map(syllablesOf)).toEqual([
    1, 2, 2, 1, 2, 3, 1, 0,
  ]);
});
