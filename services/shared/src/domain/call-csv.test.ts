import { expect, test } from "bun:test";
import { ServiceError } from "../errors.ts";
import { readCallCsv } from "./call-csv.ts";

function refusalOf(text: string): string[] {
  try {
    readCallCsv(text, "csv");
  } catch (error) {
    if (error instanceof ServiceError) return error.violations.map(({ message }) => message);
    throw error;
  }
  return [];
}

test("a row is a call, whose other columns are its variables, with the line that it ends on", () => {
  const text =
    '\ufeffto_mobile_number,name,note\r\n+14155550123,Ada,"Likes ""tea"",\nand cake"\r\n\r\n +14155550124 ,Bob,\r\n';
  expect(readCallCsv(text, "csv")).toEqual([
    { toMobileNumber: "+14155550123", dynamicVariables: { name: "Ada", note: 'Likes "tea",\nand cake' }, line: 3 },
    { toMobileNumber: "+14155550124", dynamicVariables: { name: "Bob", note: "" }, line: 5 },
  ]);
});

test.each([
  ["semicolons, as Excel writes in much of Europe", ";"],
  ["tabs", "\t"],
])("columns may be separated by %s", (_, separator) => {
  const rows = [
    ["name", "to_mobile_number", "note"],
    ["Ada, of Acme", "+14155550123", `"${separator} in quotes"`],
  ];
  expect(readCallCsv(rows.map((row) => row.join(separator)).join("\r\n"), "csv")).toEqual([
    {
      toMobileNumber: "+14155550123",
      dynamicVariables: { name: "Ada, of Acme", note: `${separator} in quotes` },
      line: 2,
    },
  ]);
});

test("a file whose columns are separated by commas may have semicolons in its names and values", () => {
  expect(readCallCsv("a;b,to_mobile_number\nred;green,+14155550123\n", "csv")).toEqual([
    { toMobileNumber: "+14155550123", dynamicVariables: { "a;b": "red;green" }, line: 2 },
  ]);
});

test("the line that names the separator for Excel is skipped", () => {
  expect(readCallCsv("sep=;\r\nto_mobile_number;name\r\n+14155550123;Ada\r\n", "csv")).toEqual([
    { toMobileNumber: "+14155550123", dynamicVariables: { name: "Ada" }, line: 3 },
  ]);
});

test("wrong rows are reported by their lines", () => {
  const must = "to_mobile_number must be a phone number in E.164 form, such as +14155550123";
  expect(refusalOf("to_mobile_number\n+14155550123\n12\n\nabc\n")).toEqual([
    `csv line 3: ${must}`,
    `csv line 5: ${must}`,
  ]);
  expect(refusalOf("to_mobile_number,name\n+14155550123\n")[0]).toContain("line 2");
  expect(refusalOf('to_mobile_number\n"+1415\n')[0]).toContain("not valid CSV");
});

test("a text without rows or without the column is refused", () => {
  expect(refusalOf("")).toEqual(["csv must have at least one row below the names of its columns"]);
  expect(refusalOf("to_mobile_number\n")).toEqual(["csv must have at least one row below the names of its columns"]);
  expect(refusalOf("number\n+14155550123\n")).toEqual(["csv must have a column to_mobile_number in its first row"]);
  expect(refusalOf("to_mobile_number,a,a\n+14155550123,1,2\n")[0]).toContain("a name of its own");
});
