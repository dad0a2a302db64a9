import { expect, test } from "bun:test";
import { anyCharacter } from "@parley/testkit/any-character";
import fc from "fast-check";
import { planSearch } from "./plan.ts";
import { eachTerm, SEPARATOR } from "./text-terms.ts";

const piece = fc
  .array(
    fc.constantFrom(
      "a",
      "b",
      "ab",
      "order",
      "ord",
      "77",
      "é",
      "ß",
      "😀",
      "中文",
      " ",
      "  ",
      "\n",
      "%",
      "_",
      "\\",
      "-",
      "x".repeat(600),
    ),
    {
      maxLength: 12,
    },
  )
  .map((parts) => parts.join(""));
const text = fc.array(piece, { minLength: 1, maxLength: 3 });

function termsOf(pieces: readonly string[]) {
  const terms = { grams: new Set<string>(), words: new Set<string>(), seams: new Set<string>() };
  const sink = {
    gram: (gram: string) => terms.grams.add(gram),
    word: (word: string) => terms.words.add(word),
    seam: (seam: string) => terms.seams.add(seam),
  };
  Array.from(eachTerm(pieces.join(SEPARATOR), sink));
  return terms;
}

/** As Postgres reads a LIKE pattern. */
function isLike(word: string, pattern: string): boolean {
  const source = pattern.replaceAll(/\\(.)|%|[^\\%]/gsu, (part, escaped) =>
    part === "%" ? ".*" : RegExp.escape(escaped ?? part),
  );
  return new RegExp(`^${source}$`, "su").test(word);
}

test("a plan finds every text that contains the searched text, and an exact plan finds no other", () => {
  const needle = fc.tuple(text, fc.nat(), fc.integer({ min: 1, max: 250 })).map(([pieces, at, length]) => {
    const characters = [...(pieces[0] ?? "")];
    return (
      characters
        .slice(at % Math.max(1, characters.length))
        .slice(0, length)
        .join("") || "a"
    );
  });
  fc.assert(
    fc.property(text, needle, fc.boolean(), (pieces, searched, isWithin) => {
      const all = isWithin ? [...pieces, `ab${searched}b`] : pieces;
      const { grams, words, seams } = termsOf(all);
      const plan = planSearch(searched);
      const isFound =
        plan.grams.every((gram) => grams.has(gram)) &&
        plan.seams.every((seam) => seams.has(seam)) &&
        plan.words.every((pattern) => [...words].some((word) => isLike(word, pattern)));
      const contains = all.some((one) => one.includes(searched));
      if (contains || plan.isExact) expect({ all, searched, isFound }).toEqual({ all, searched, isFound: contains });
    }),
    { numRuns: 3_000 },
  );
});

test("a plan is never empty, whatever is searched for", () => {
  for (const blank of [" ", "   ", "\n \t \n"]) {
    const { grams, words } = planSearch(blank);
    expect([...grams, ...words]).not.toBeEmpty();
  }
  fc.assert(
    fc.property(fc.string({ minLength: 1, maxLength: 220, unit: anyCharacter }), (searched) => {
      const { grams, words } = planSearch(searched);
      expect(grams.length + words.length).toBeGreaterThan(0);
    }),
  );
});
