import { expect, spyOn, test } from "bun:test";
import { jsonReader } from "./long-json.ts";

const PIECE = 16 * 1024;

function read(json: string, pieceLength: number): unknown {
  const reader = jsonReader();
  for (let at = 0; at < json.length; at += pieceLength) reader.push(json.slice(at, at + pieceLength));
  return reader.end();
}

const long = (text: string) => text.repeat(Math.ceil(20_000 / text.length));
const VALUES: readonly unknown[] = [
  { a: 1, b: ["x", null, true], c: { d: "" } },
  { text: long('say "yes" \\ or \\" no'), more: [long("\\"), "short", long('"'), { deep: long("ends\\") }] },
  [long("\u0001"), long("é🎉語\ud83d"), long("\n\t/")],
  long("a whole document "),
];

test.each([1, 5, 7, 1_000, PIECE, 1e9])(
  "a document that arrives in pieces of %d characters has the same value as in one piece",
  (pieceLength) => {
    for (const value of VALUES) expect(read(JSON.stringify(value), pieceLength)).toEqual(value);
    // Uses escapes that JSON.stringify does not write.
    const escaped = `["${"\\u00e9\\/\\ud83c\\udf89".repeat(5_000)}"]`;
    expect(read(escaped, pieceLength)).toEqual(JSON.parse(escaped));
  },
);

test("of a million escaped characters, no more is parsed at once than two pieces that arrived", () => {
  const json = JSON.stringify({ choices: [{ message: { content: "\u0001".repeat(900_000) } }] });
  using parse = spyOn(JSON, "parse");
  expect(read(json, PIECE)).toEqual({ choices: [{ message: { content: "\u0001".repeat(900_000) } }] });
  const lengths = parse.mock.calls.map(([text]) => text.length);
  expect(lengths.length).toBeGreaterThan(json.length / PIECE);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(2 * PIECE);
});

test.each([
  ["an unterminated string", `{"text":"${long("x")}`],
  ["a control character that is not escaped", `["${long("x")}\n"]`],
  ["an escape that there is not", `["${long("x")}\\x"]`],
  ["values after the last", `${JSON.stringify([long("x")])} 1`],
  ["a million small values", `[${"1,".repeat(1_000_000)}1]`],
])("%s is refused", (_, json) => {
  for (const pieceLength of [1_000, PIECE]) expect(() => read(json, pieceLength)).toThrow();
});
