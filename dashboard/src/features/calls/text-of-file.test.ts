import { expect, test } from "bun:test";
import { textOfFile } from "./text-of-file.ts";

const TEXT = "to_mobile_number;name\r\n+14155550123;Zoë\r\n";

test.each([
  ["UTF-8", new TextEncoder().encode(TEXT)],
  ["UTF-8 with a byte order mark", new TextEncoder().encode(`\ufeff${TEXT}`)],
  ["the code page of Western Windows", Buffer.from(TEXT, "latin1")],
  ["UTF-16", Buffer.from(`\ufeff${TEXT}`, "utf16le")],
])("a file in %s is read with its accents", async (_, bytes) => {
  expect(await textOfFile(new Blob([new Uint8Array(bytes)]))).toBe(TEXT);
});

test("an empty file is an empty text", async () => {
  expect(await textOfFile(new Blob([]))).toBe("");
});
