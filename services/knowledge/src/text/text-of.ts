import { textOfBytes } from "@parley/shared/portable/text-of-bytes";
import { codePageOf, DOCX, type MediaType } from "./media-types.ts";
import { type Reading, Refusal } from "./reading.ts";

const TEXT_BYTES_MAX = 20 * 1024 ** 2;

/** Each loads its libraries itself: a process reads one document. */
const READERS: Readonly<Record<MediaType, (bytes: Uint8Array) => Promise<string | Reading> | string>> = {
  "application/pdf": async (bytes) => (await import("./formats/pdf.ts")).textOfPdf(bytes),
  [DOCX]: async (bytes) => (await import("./formats/docx.ts")).textOfDocx(bytes),
  "text/html": async (bytes) => (await import("./formats/page.ts")).textOfPage(decoded(bytes, codePageOf(bytes))),
  "text/csv": async (bytes) => (await import("./formats/csv.ts")).textOfCsv(decoded(bytes)),
  "text/markdown": (bytes) => decoded(bytes),
  "text/plain": (bytes) => decoded(bytes),
};

/**
 * The text of a document.
 * @throws Refusal with a sentence for the owner; others for damaged documents
 */
export async function textOf(bytes: Uint8Array, mediaType: string): Promise<Reading> {
  if (!Object.hasOwn(READERS, mediaType)) throw new Refusal("The document is of a kind that cannot be read.");
  const read = await READERS[mediaType as MediaType](bytes);
  const { text: raw, title } = typeof read === "string" ? { text: read, title: null } : read;
  const text = tidy(raw);
  if (text === "") throw new Refusal("The document has no text.");
  if (Buffer.byteLength(text) > TEXT_BYTES_MAX) {
    throw new Refusal("The document has more than 20 MiB of text. Split it into smaller documents.");
  }
  return { text, title };
}

function decoded(bytes: Uint8Array, codePage?: string): string {
  const text = textOfBytes(bytes, false, codePage);
  if (text === null) throw new Refusal("The file is not text, or its text is damaged.");
  return text;
}

/** Begins where the spaces do: otherwise, a million spaces within a line would take hours. */
const TRAILING_SPACES = /(?<![^\S\n])[^\S\n]+$/gm;

/** Control characters say nothing, and Postgres refuses NUL and halves of characters. */
function tidy(text: string): string {
  return text
    .replace(/\r\n?|[\u2028\u2029\f\v]/g, "\n")
    .replace(/[^\n\t\P{Cc}]|[\ufeff\u00ad]/gu, "")
    .toWellFormed()
    .replace(TRAILING_SPACES, "")
    .replace(/\n{3,}/g, "\n\n")
    .trim();
}
