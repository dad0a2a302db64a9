import { textOfBytes } from "@parley/shared/portable/text-of-bytes";

export const DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
/** What a document may be. */
const MEDIA_TYPES = ["application/pdf", DOCX, "text/html", "text/markdown", "text/csv", "text/plain"] as const;
export type MediaType = (typeof MEDIA_TYPES)[number];

const BY_EXTENSION: Readonly<Record<string, MediaType>> = {
  pdf: "application/pdf",
  docx: DOCX,
  html: "text/html",
  htm: "text/html",
  xhtml: "text/html",
  md: "text/markdown",
  markdown: "text/markdown",
  csv: "text/csv",
  tsv: "text/csv",
  txt: "text/plain",
  text: "text/plain",
  log: "text/plain",
};
const BY_CONTENT_TYPE: Readonly<Record<string, MediaType>> = {
  ...Object.fromEntries(MEDIA_TYPES.map((type) => [type, type])),
  "application/xhtml+xml": "text/html",
  "text/x-markdown": "text/markdown",
  "text/tab-separated-values": "text/csv",
};
/** Readers of PDF accept so much before the mark. */
const PDF_MARK_WITHIN = 1_024;
const SNIFFED_BYTES = 4_096;
/** Browsers look no further either. */
const CODE_PAGE_WITHIN = 1_024;
/** A comment ends at its first mark: otherwise, a file of comments would take forever. */
const LOOKS_LIKE_HTML = /^\s*(?:<!--(?:(?!-->)[\s\S])*-->\s*)*<(?:!doctype\s+html|html|head|body)\b/i;

/**
 * What a document is. The bytes decide before the name, and the name before the content type, which programs often guess: a PDF that is
 * called `prices.txt` is a PDF.
 * @returns null for what cannot be read, such as a picture
 */
export function mediaTypeOf(document: { name: string; contentType: string; bytes: Uint8Array }): MediaType | null {
  const head = Buffer.from(document.bytes.subarray(0, SNIFFED_BYTES));
  if (head.subarray(0, PDF_MARK_WITHIN).includes("%PDF-")) return "application/pdf";
  const claimed = claimedType(document);
  // An archive may be any of many formats. One that claims to be a Word document is told apart when it is read.
  if (claimed === "application/pdf" || claimed === DOCX) return claimed;
  if (textOfBytes(head, document.bytes.length >= SNIFFED_BYTES, codePageOf(head)) === null) return null;
  if (claimed === "text/html" || LOOKS_LIKE_HTML.test(head.toString("utf8"))) return "text/html";
  return claimed ?? "text/plain";
}

/** The code page that an old page says it is in. */
export function codePageOf(page: Uint8Array): string | undefined {
  const head = Buffer.from(page.subarray(0, CODE_PAGE_WITHIN)).toString("latin1");
  return /<meta\b[^>]*\bcharset\s*=\s*["']?([\w-]+)/i.exec(head)?.[1];
}

function claimedType({ name, contentType }: { name: string; contentType: string }): MediaType | undefined {
  const extension = /\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "";
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  return BY_EXTENSION[extension] ?? BY_CONTENT_TYPE[type];
}
