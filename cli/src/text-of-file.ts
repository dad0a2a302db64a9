import { ConfigError } from "@parley/shared/config";

/**
 * The text of a file that a spreadsheet wrote, as the dashboard reads it: UTF-8, UTF-16 with its mark, or else the code page of Western
 * Windows, which Excel writes unless it is asked for UTF-8.
 * @throws ConfigError for a file that is not there or not text
 */
export async function textOfFile(path: string): Promise<string> {
  const bytes = await Bun.file(path)
    .bytes()
    .catch(() => {
      throw new ConfigError(`${path} cannot be read`);
    });
  try {
    return decoded(bytes);
  } catch {
    throw new ConfigError(`${path} is not a text file in UTF-8, UTF-16 or Windows-1252: save it as "CSV UTF-8"`);
  }
}

function decoded(bytes: Uint8Array): string {
  const encoding = MARKS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte))?.encoding;
  const text = encoding ? decode(bytes, encoding) : withoutMark(bytes);
  // No text has these: NULs, and what stands for the bytes that Windows-1252 lacks.
  if (/[\0\u0080-\u009f]/.test(text)) throw new Error("no text");
  return text;
}

const MARKS = [
  { mark: [0xff, 0xfe], encoding: "utf-16le" },
  { mark: [0xfe, 0xff], encoding: "utf-16be" },
  { mark: [0xef, 0xbb, 0xbf], encoding: "utf-8" },
] as const;

function withoutMark(bytes: Uint8Array): string {
  try {
    return decode(bytes, "utf-8");
  } catch {
    return decode(bytes, "windows-1252");
  }
}

function decode(bytes: Uint8Array, encoding: string): string {
  return new TextDecoder(encoding as Bun.Encoding, { fatal: true }).decode(bytes);
}
