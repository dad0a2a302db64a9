import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textOfFile } from "./text-of-file.ts";

const TEXT = "to_mobile_number;name\r\n+14155550188;Jürgen Groß\r\n";

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-text-"));
});
afterAll(() => rm(folder, { recursive: true }));

async function read(bytes: Uint8Array): Promise<string> {
  const path = join(folder, "customers.csv");
  await Bun.write(path, bytes);
  return textOfFile(path);
}

test.each([
  ["UTF-8", Buffer.from(TEXT)],
  ["UTF-8 with its mark", Buffer.from(`\ufeff${TEXT}`)],
  ["the code page of Western Windows", Buffer.from(TEXT, "latin1")],
  ["UTF-16", Buffer.from(`\ufeff${TEXT}`, "utf16le")],
  ["UTF-16 of the other byte order", Buffer.from(`\ufeff${TEXT}`, "utf16le").swap16()],
])("a file in %s is read with its accents, as the dashboard reads it", async (_, bytes) => {
  expect(await read(bytes)).toBe(TEXT);
});

test.each([
  ["a workbook", Buffer.from("PK\x03\x04\x14\0\x06\0")],
  ["UTF-16 without its mark", Buffer.from(TEXT, "utf16le")],
  ["UTF-8 with its mark that is broken", Buffer.from([0xef, 0xbb, 0xbf, 0x41, 0xff])],
  ["bytes that no encoding of ours has", Buffer.from([0x41, 0x81, 0x8d])],
])("%s is refused instead of being read as damaged names", async (_, bytes) => {
  expect(await read(bytes).catch(String)).toContain("is not a text file in UTF-8, UTF-16 or Windows-1252");
});

test("a file that is not there is named", async () => {
  expect(await textOfFile(join(folder, "none.csv")).catch(String)).toContain("none.csv cannot be read");
});
