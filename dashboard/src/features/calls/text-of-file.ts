import { textOfBytes } from "@parley/shared/portable/text-of-bytes";

/** The text of a CSV file. @throws Error for a file that is not text */
export async function textOfFile(file: Blob): Promise<string> {
  const text = textOfBytes(new Uint8Array(await file.arrayBuffer()));
  if (text === null)
    throw new Error('This is not a text file in UTF-8, UTF-16 or Windows-1252. Save it as "CSV UTF-8".');
  return text;
}
