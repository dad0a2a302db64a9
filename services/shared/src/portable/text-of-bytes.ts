/**
 * The text of a file that a spreadsheet wrote: UTF-8, UTF-16 with its mark, or else the code page of Western Windows, which Excel
 * writes unless it is asked for UTF-8.
 * @param isHead whether more bytes follow, so that the last ones may be a part of a character
 * @param codePage that the file says it is in, which counts unless it is UTF-8 or UTF-16
 * @returns null for bytes that are not text
 */
export function textOfBytes(bytes: Uint8Array, isHead = false, codePage = "windows-1252"): string | null {
  const marked = MARKS.find(({ mark }) => mark.every((byte, at) => bytes[at] === byte));
  const decoded = (encoding: string) => decodedAs(encoding, bytes, isHead);
  const text = marked ? decoded(marked.encoding) : (decoded("utf-8") ?? decoded(codePage) ?? decoded("windows-1252"));
  return text === null || NO_TEXT.test(text) ? null : text;
}

const MARKS = [
  { mark: [0xff, 0xfe], encoding: "utf-16le" },
  { mark: [0xfe, 0xff], encoding: "utf-16be" },
  { mark: [0xef, 0xbb, 0xbf], encoding: "utf-8" },
] as const;

/** NULs, and what stands for the bytes that Windows-1252 lacks. */
const NO_TEXT = /[\0\u0080-\u009f]/;

/** Another one throws, as damaged bytes do. */
type TextEncoding = ConstructorParameters<typeof TextDecoder>[0];

function decodedAs(encoding: string, bytes: Uint8Array, isHead: boolean): string | null {
  try {
    return new TextDecoder(encoding as TextEncoding, { fatal: true }).decode(bytes, { stream: isHead });
  } catch {
    return null;
  }
}
