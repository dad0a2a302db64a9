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

test("wrong rows are reported by their lines", async () => {
  const must = "to_mobile_number must be a phone number in E.164 form, such as +14155550123";
  expect(await refusalOf("to_mobile_number\n+14155550123\n12\n\nabc\n")).toEqual([
    `csv line 3: ${must}`,
    `csv line 5: ${must}`,
  ]);
  expect((await refusalOf("to_mobile_number,name\n+14155550123\n"))[0]).toContain("line 2");
  expect((await refusalOf('to_mobile_number\n"+1415\n'))[0]).toContain("not valid CSV");
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
