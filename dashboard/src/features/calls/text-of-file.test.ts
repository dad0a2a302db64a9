import { expect, test } from "bun:test";
import { textOfFile } from "./text-of-file.ts";

test("a workbook is refused with how to save it as text", async () => {
  const refusal = textOfFile(new Blob(["PK\x03\x04\x14\0\x06\0"]));
  await expect(refusal).rejects.toThrow(
    'This is not a text file in UTF-8, UTF-16 or Windows-1252. Save it as "CSV UTF-8".',
  );
});
