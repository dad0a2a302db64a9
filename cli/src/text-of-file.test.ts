import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { textOfFile } from "./text-of-file.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-text-"));
afterAll(() => rm(folder, { recursive: true }));

async function read(bytes: Uint8Array): Promise<string> {
  const path = join(folder, "customers.csv");
  await Bun.write(path, bytes);
  return textOfFile(path);
}

test("a file in the code page of Western Windows is read with its accents", async () => {
  expect(await read(Buffer.from("Jürgen Groß", "latin1"))).toBe("Jürgen Groß");
});

test("a workbook is refused with how to save it as text", async () => {
  const refusal = await read(Buffer.from("PK\x03\x04\x14\0\x06\0")).catch(String);
  expect(refusal).toContain('is not a text file in UTF-8, UTF-16 or Windows-1252. Save it as "CSV UTF-8".');
});

test("a file that is not there is named", async () => {
  expect(await textOfFile(join(folder, "none.csv")).catch(String)).toContain("none.csv cannot be read");
});
