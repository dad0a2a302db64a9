import { expect, test } from "bun:test";
import { textOfBytes } from "./text-of-bytes.ts";

const TEXT = "to_mobile_number;name\r\n+14155550123;Zoë Groß\r\n";

test.each([
  ["UTF-8", Buffer.from(TEXT)],
  ["UTF-8 with a byte order mark", Buffer.from(`\ufeff${TEXT}`)],
  ["the code page of Western Windows", Buffer.from(TEXT, "latin1")],
  ["UTF-16", Buffer.from(`\ufeff${TEXT}`, "utf16le")],
  ["UTF-16 of the other byte order", Buffer.from(`\ufeff${TEXT}`, "utf16le").swap16()],
])("a file in %s is read with its accents", (_, bytes) => {
  expect(textOfBytes(bytes)).toBe(TEXT);
});

test.each([
  ["a workbook", Buffer.from("PK\x03\x04\x14\0\x06\0")],
  ["UTF-16 without its mark", Buffer.from(TEXT, "utf16le")],
  ["UTF-8 with its mark that is broken", Buffer.from([0xef, 0xbb, 0xbf, 0x41, 0xff])],
  ["bytes that no encoding of ours has", Buffer.from([0x41, 0x81, 0x8d])],
])("%s is refused instead of being read as damaged names", (_, bytes) => {
  expect(textOfBytes(bytes)).toBeNull();
});

test("an empty file is an empty text", () => {
  expect(textOfBytes(new Uint8Array())).toBe("");
});
