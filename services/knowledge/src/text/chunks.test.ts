import { expect, test } from "bun:test";
import fc from "fast-check";
import { CHUNK_CHARACTERS, chunksOf, ROW_CHARACTERS_MAX } from "./chunks.ts";

const word = fc.stringMatching(/^[a-zäöü]{1,14}$/);
const sentence = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => `${words.join(" ")}.`);
const paragraph = fc.array(sentence, { minLength: 1, maxLength: 12 }).map((sentences) => sentences.join(" "));
const heading = fc.tuple(fc.integer({ min: 1, max: 4 }), word).map(([level, title]) => `${"#".repeat(level)} ${title}`);
const table = fc
  .array(fc.array(word, { minLength: 3, maxLength: 3 }), { minLength: 2, maxLength: 60 })
  .map(([head, ...rows]) => [head, ["---", "---", "---"], ...rows].map((row) => `| ${row?.join(" | ")} |`).join("\n"));
const block = fc.oneof({ weight: 4, arbitrary: paragraph }, { weight: 2, arbitrary: heading }, table);
const text = fc.array(block, { minLength: 1, maxLength: 12 }).map((blocks) => blocks.join("\n\n"));

const wordsIn = (value: string) => value.match(/[\p{L}\p{N}]+/gu) ?? [];

test("chunks are at most as long as they may be, and none is empty", () => {
  fc.assert(
    fc.property(text, (value) => {
      for (const chunk of chunksOf(value, "en")) {
        expect(chunk.text.length).toBeLessThanOrEqual(CHUNK_CHARACTERS);
        expect(chunk.text.trim()).not.toBe("");
      }
    }),
  );
});

test("a paragraph does not fill a chunk beyond its length by the empty line before it", () => {
  const [first, second] = ["a".repeat(CHUNK_CHARACTERS / 2 - 2), `B${"b".repeat(CHUNK_CHARACTERS / 2 - 2)}`];
  const chunks = chunksOf(`${first}.\n\n${second}. ${second}.`, "en");
  expect(Math.max(...chunks.map(({ text }) => text.length))).toBeLessThanOrEqual(CHUNK_CHARACTERS);
});

test("every word of a document is in a chunk or in the titles above one, and no word is cut", () => {
  fc.assert(
    fc.property(text, (value) => {
      const found = new Set(chunksOf(value, "en").flatMap((chunk) => wordsIn(`${chunk.heading} ${chunk.text}`)));
      expect(found).toEqual(new Set(wordsIn(value)));
    }),
  );
});

test("every row of a table is whole in one chunk, below the first row of its table", () => {
  fc.assert(
    fc.property(table, (value) => {
      const chunks = chunksOf(value, "en");
      const [head = "", rule = "", ...rows] = value.split("\n");
      for (const row of rows) expect(chunks.some((chunk) => chunk.text.split("\n").includes(row))).toBeTrue();
      for (const chunk of chunks) expect(chunk.text.split("\n").slice(0, 2)).toEqual([head, rule]);
    }),
  );
});

test("a chunk that continues a paragraph begins with the last sentence of the chunk before", () => {
  const sentences = Array.from({ length: 60 }, (_, at) => `This is sentence number ${at} of a long paragraph.`);
  const chunks = chunksOf(sentences.join(" "), "en");
  expect(chunks.length).toBeGreaterThan(1);
  for (const [at, chunk] of chunks.slice(1).entries()) {
    const last = chunks[at]?.text.match(/This is sentence number \d+ of a long paragraph\.$/)?.[0] ?? "none";
    expect(chunk.text.startsWith(`${last} `)).toBeTrue();
  }
});

test("a chunk has the titles above it, and a new title begins a new chunk", () => {
  const value =
    "Before.\n\n# Prices\n\nIn euros.\n\n## Delivery\n\nOn Mondays.\n\n## Returns\n\nNever.\n\nContact\n=======\n\nCall us.";
  expect(chunksOf(value, "en")).toEqual([
    { heading: "", text: "Before." },
    { heading: "Prices", text: "In euros." },
    { heading: "Prices > Delivery", text: "On Mondays." },
    { heading: "Prices > Returns", text: "Never." },
    { heading: "Contact", text: "Call us." },
  ]);
});

test("a title without text below it is not lost", () => {
  expect(chunksOf("# Prices\n\n## Gold 29\n\n## Silver 19\n", "en")).toEqual([
    { heading: "Prices", text: "Gold 29" },
    { heading: "Prices", text: "Silver 19" },
  ]);
});

test("paragraphs that fit together stay together", () => {
  expect(chunksOf("One.\n\nTwo.\n\nThree.", "en")).toEqual([{ heading: "", text: "One.\n\nTwo.\n\nThree." }]);
});

test("Chinese text without spaces is cut between words", () => {
  const chunks = chunksOf("我们星期一送货".repeat(400), "zh");
  expect(chunks.map((chunk) => chunk.text).join("")).toBe("我们星期一送货".repeat(400));
  expect(Math.max(...chunks.map((chunk) => chunk.text.length))).toBeLessThanOrEqual(CHUNK_CHARACTERS);
});

test("encoded data of 100,000 characters without a space is cut, because no word is so long", () => {
  const chunks = chunksOf("x".repeat(100_000), "en");
  expect(chunks.map((chunk) => chunk.text).join("")).toBe("x".repeat(100_000));
});

test("a table's row longer than a chunk stays whole", () => {
  const row = `| ${"word ".repeat(400)}|`;
  expect(row.length).toBeLessThan(ROW_CHARACTERS_MAX);
  expect(chunksOf(`| a |\n| --- |\n${row}\n| b |`, "en").map((chunk) => chunk.text)).toContain(
    `| a |\n| --- |\n${row}`.replace(/^\| a \|\n\| --- \|\n/, ""),
  );
});

test("code is cut between its lines", () => {
  const code = ["```", ...Array.from({ length: 200 }, (_, at) => `call(${at});`), "```"].join("\n");
  const lines = chunksOf(code, "en").flatMap((chunk) => chunk.text.split("\n"));
  expect(lines).toEqual(code.split("\n"));
});

test("a line of a hundred thousand marks is no title, and takes no longer than other lines", () => {
  const line = `# ${"#".repeat(100_000)}x`;
  const parts = chunksOf(line, "en").map((chunk) => chunk.text);
  expect(parts.join("")).toBe(line);
});
