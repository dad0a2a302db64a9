import { expect, test } from "bun:test";
import { csvOf } from "./csv.ts";

test("a cell that a spreadsheet would run as a formula is text", () => {
  for (const cell of ["=1+1", "+14155550123", "-2", "@SUM(A1)", "\t=1"])
    expect(csvOf([[cell]])).toBe(`\ufeff'${cell}\r\n`);
  expect(csvOf([["\r=1"]])).toBe(`\ufeff"'\r=1"\r\n`);
  expect(csvOf([["1=1"], ["a-b"]])).toBe("\ufeff1=1\r\na-b\r\n");
});

test("cells with commas, quotes and line breaks stay one cell", () => {
  expect(csvOf([["a,b", 'say "hi"', "one\ntwo", "", "Grüße"]])).toBe('\ufeff"a,b","say ""hi""","one\ntwo",,Grüße\r\n');
});

test("a formula with a comma is both", () => {
  expect(csvOf([['=HYPERLINK("https://evil.example","x")']])).toBe(
    '\ufeff"\'=HYPERLINK(""https://evil.example"",""x"")"\r\n',
  );
});
