import { expect, test } from "bun:test";
import { ServiceError } from "../errors.ts";
import { readCallCsv } from "./call-csv.ts";

/** @param nextTurn called before each piece that is read */
const read = (text: string, nextTurn = async () => {}) => readCallCsv(text, "csv", nextTurn);

async function refusalOf(text: string): Promise<string[]> {
  try {
    await read(text);
  } catch (error) {
    if (error instanceof ServiceError) return error.violations.map(({ message }) => message);
    throw error;
  }
  return [];
}

test("a row is a call, whose other columns are its variables, with the line that it ends on", async () => {
  const text =
    '\ufeffto_mobile_number,name,note\r\n+14155550123,Ada,"Likes ""tea"",\nand cake"\r\n\r\n +14155550124 ,Bob,\r\n';
  expect(await read(text)).toEqual([
    { toMobileNumber: "+14155550123", dynamicVariables: { name: "Ada", note: 'Likes "tea",\nand cake' }, line: 3 },
    { toMobileNumber: "+14155550124", dynamicVariables: { name: "Bob", note: "" }, line: 5 },
  ]);
});

test("invisible marks and spaces around a number are left out", async () => {
  const marked = ["\u202a+14155550123\u202c", "\u200e+14155550123", "\u00a0+14155550123\u00a0", "+1415\u200b5550123"];
  const rows = await read(["to_mobile_number,name", ...marked.map((number) => `${number},\u200eAda`)].join("\n"));
  expect(rows.map(({ toMobileNumber }) => toMobileNumber)).toEqual(marked.map(() => "+14155550123"));
  expect(rows[0]?.dynamicVariables).toEqual({ name: "\u200eAda" });
});

test.each([
  ["semicolons, as Excel writes in much of Europe", ";"],
  ["tabs", "\t"],
])("columns may be separated by %s", async (_, separator) => {
  const rows = [
    ["name", "to_mobile_number", "note"],
    ["Ada, of Acme", "+14155550123", `"${separator} in quotes"`],
  ];
  expect(await read(rows.map((row) => row.join(separator)).join("\r\n"))).toEqual([
    {
      toMobileNumber: "+14155550123",
      dynamicVariables: { name: "Ada, of Acme", note: `${separator} in quotes` },
      line: 2,
    },
  ]);
});

test("a file whose columns are separated by commas may have semicolons in its names and values", async () => {
  expect(await read("a;b,to_mobile_number\nred;green,+14155550123\n")).toEqual([
    { toMobileNumber: "+14155550123", dynamicVariables: { "a;b": "red;green" }, line: 2 },
  ]);
});

test("the line that names the separator for Excel is skipped", async () => {
  expect(await read("sep=;\r\nto_mobile_number;name\r\n+14155550123;Ada\r\n")).toEqual([
    { toMobileNumber: "+14155550123", dynamicVariables: { name: "Ada" }, line: 3 },
  ]);
});

test("rows that cannot be read are reported by their lines; their numbers are checked by whoever calls them", async () => {
  expect((await refusalOf("to_mobile_number,name\n+14155550123\n"))[0]).toContain("line 2");
  expect((await refusalOf('to_mobile_number\n"+1415\n'))[0]).toContain("not valid CSV");
  expect(await read("to_mobile_number\n12\n")).toMatchObject([{ toMobileNumber: "12", line: 2 }]);
});

test("a text without rows or without the column is refused", async () => {
  expect(await refusalOf("")).toEqual(["csv must have at least one row below the names of its columns"]);
  expect(await refusalOf("to_mobile_number\n")).toEqual([
    "csv must have at least one row below the names of its columns",
  ]);
  expect(await refusalOf("number\n+14155550123\n")).toEqual([
    "csv must have a column to_mobile_number in its first row",
  ]);
  expect((await refusalOf("to_mobile_number,a,a\n+14155550123,1,2\n"))[0]).toContain("a name of its own");
});

test("a long text is read piece by piece, and others have a turn of the loop before each", async () => {
  const rows = Array.from(
    { length: 10_000 },
    (_, at) => `+1415555${String(at).padStart(4, "0")},${"\u{1F4A5}".repeat(20)}`,
  );
  const text = `to_mobile_number,note\n${rows.join("\n")}`;
  let turns = 0;
  const calls = await read(text, async () => {
    turns++;
  });
  expect(calls.map(({ toMobileNumber, dynamicVariables: { note } }) => `${toMobileNumber},${note}`)).toEqual(rows);
  expect(turns).toBe(Math.ceil(Buffer.byteLength(text) / 8192));
});

test("a line that consists of separators is refused before it is read whole, as names or as values", async () => {
  const separators = ",".repeat(2_000_000);
  expect((await refusalOf(separators))[0]).toContain("to_mobile_number in its first row");
  expect((await refusalOf(`to_mobile_number${separators}`))[0]).toContain("at most 100 columns");
  let turns = 0;
  const values = read(`to_mobile_number\n${separators}`, async () => {
    turns++;
  });
  expect(await values.catch(({ detail }) => detail)).toContain("rows of more than 131072 bytes");
  expect(turns).toBeLessThan(20);
});

test("a row of separators is refused before it is read whole, though it has line ends in quotes", async () => {
  let turns = 0;
  const values = read(`to_mobile_number\n${`"\n"${",".repeat(8_000)}`.repeat(250)}`, async () => {
    turns++;
  });
  expect(await values.catch(({ detail }) => detail)).toContain("rows of more than 131072 bytes");
  expect(turns).toBeLessThan(25);
});

test("many empty lines are no long row", async () => {
  const text = (end: string) => `to_mobile_number${end}${end.repeat(300_000)}+14155550123${end}`;
  expect(await read(text("\n"))).toHaveLength(1);
  expect(await read(text("\r\n"))).toHaveLength(1);
});

test("a fault that is not the text's is not reported as one, and ends the reading", async () => {
  let turns = 0;
  const gone = new Error("The client has left");
  const values = read(`to_mobile_number\n${"+14155550123\n".repeat(9_000)}`, async () => {
    if (++turns === 3) throw gone;
  });
  expect(await values.catch((error) => error)).toBe(gone);
  expect(turns).toBe(3);
});

test("a text with more than 10,000 rows is refused", async () => {
  const text = (rows: number) => `to_mobile_number\n${"+14155550123\n".repeat(rows)}`;
  expect(await read(text(10_000))).toHaveLength(10_000);
  expect(await refusalOf(text(10_001))).toEqual(["csv must have at most 10000 rows"]);
});

test.each([
  ["CRLF after the names and LF after the rows", "\r\n", "\n"],
  ["LF after the names and CRLF after the rows", "\n", "\r\n"],
  ["the ends of old Macs", "\r", "\r"],
  ["all three kinds", "\r", "\r\n"],
])("a file with %s is read, with true lines", async (_, first, others) => {
  const text = `to_mobile_number,name${first}+14155550123,"Ada\r\nof Acme"${others}${others}+14155550124,Bob${others}`;
  expect(await read(text)).toEqual([
    { toMobileNumber: "+14155550123", dynamicVariables: { name: "Ada\nof Acme" }, line: 3 },
    { toMobileNumber: "+14155550124", dynamicVariables: { name: "Bob" }, line: 5 },
  ]);
});

test("lines are counted wherever a long text is cut", async () => {
  for (let pad = 0; pad < 20; pad++) {
    const calls = await read(`to_mobile_number,${"n".repeat(pad + 1)}\r\n${"+14155550123,ü\r\n".repeat(2_000)}`);
    expect(calls.map(({ line }) => line)).toEqual(Array.from({ length: 2_000 }, (_, at) => at + 2));
  }
});

test("blank rows and blank columns, as spreadsheets leave them, are skipped, and the lines of the others are true", async () => {
  const text =
    " ,,\r\nto_mobile_number,name,,\r\n+14155550123,Ada,,\r\n,,,\r\n , ,,\r\n+14155550124,Bob\r\n,,,,,\r\n,\r\n";
  expect(await read(text)).toEqual([
    { toMobileNumber: "+14155550123", dynamicVariables: { name: "Ada" }, line: 3 },
    { toMobileNumber: "+14155550124", dynamicVariables: { name: "Bob" }, line: 6 },
  ]);
});

test("a value in a column without a name is refused, and so is a row with too few columns", async () => {
  expect(
    await refusalOf("to_mobile_number,name,\n+14155550123,Ada,lost\n+14155550124\n+14155550125,Bob,,more\n"),
  ).toEqual([
    "csv line 2: has a value in a column without a name",
    "csv line 3: has 1 columns, and the first row names 2",
    "csv line 4: has a value in a column without a name",
  ]);
});

test("of many wrong rows the first twenty are named, and the number of the others", async () => {
  const refusal = await refusalOf(`to_mobile_number,name\n${"+14155550123\n".repeat(60)}`);
  expect(refusal).toHaveLength(21);
  expect(refusal.at(-1)).toBe("and 40 more rows are wrong");
});
