const MARKS = [
  { mark: [0xff, 0xfe], encoding: "utf-16le" },
  { mark: [0xfe, 0xff], encoding: "utf-16be" },
  { mark: [0xef, 0xbb, 0xbf], encoding: "utf-8" },
];

/**
 * The text of a CSV file. Excel writes UTF-8 only if asked to; otherwise it writes the code page of Western Windows, or UTF-16 for
 * "Unicode text". The command line reads files alike (cli/src/text-of-file.ts).
 * @throws Error for a file that is not text
 */
export async function textOfFile(file: Blob): Promise<string> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  try {
    return decoded(bytes);
  } catch {
    throw new Error('This is not a text file in UTF-8, UTF-16 or Windows-1252. Save it as "CSV UTF-8".');
  }
}

function decoded(bytes: Uint8Array): string {
  const encoding = MARKS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte))?.encoding;
  const text = encoding ? decode(bytes, encoding) : withoutMark(bytes);
  // No text has these: NULs, and what stands for the bytes that Windows-1252 lacks.
  if (/[\0\u0080-\u009f]/.test(text)) throw new Error("no text");
  return text;
}

function withoutMark(bytes: Uint8Array): string {
  try {
    return decode(bytes, "utf-8");
  } catch {
    return decode(bytes, "windows-1252");
  }
}

function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding as ConstructorParameters<typeof TextDecoder>[0], { fatal: true }).decode(bytes);
}
