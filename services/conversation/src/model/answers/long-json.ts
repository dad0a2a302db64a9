import { newUuid } from "@parley/shared/ids";

/** Reads a JSON document while it arrives. */
export interface JsonReader {
  /** @throws SyntaxError for a string that is not JSON, and Error when the document is too long even without its texts */
  push(piece: string): void;
  /** Returns the document's value. @throws SyntaxError when it is not JSON */
  end(): unknown;
}

/** A document this short is parsed at once, in less time than it takes to look for its strings. */
const SHORT_DOCUMENT = 16 * 1024;
/** A string this short stays in the document. */
const SHORT_STRING = 1024;
/** Limit for a document without its long strings: only those make an answer long, and many small values take long to parse. */
const REST_MAX = 128 * 1024;
/** The longest escape, such as `\u0001`. */
const ESCAPE = 6;

/**
 * Parses long strings as they arrive, piece by piece, because `JSON.parse` blocks the event loop for tens of milliseconds with the
 * megabytes of a million escaped characters. A mark replaces each long string in the document, which is parsed at the end.
 */
export function jsonReader(): JsonReader {
  const mark = newUuid();
  const long: string[] = [];
  let document = "";
  let isShort = true;
  let isInString = false;
  /** The part of the current string that is not parsed yet; it begins with a whole character or escape. */
  let raw = "";
  /** The parsed part, if the string is long. */
  let parsed: string[] = [];

  function scan(piece: string): void {
    for (let at = 0; at < piece.length; ) at = isInString ? scanString(piece, at) : scanValues(piece, at);
    if (document.length > REST_MAX) throw new Error("an answer that is too long even without its texts");
  }

  /** @returns where the next string begins, or the piece ends */
  function scanValues(piece: string, at: number): number {
    const quote = piece.indexOf('"', at);
    const to = quote === -1 ? piece.length : quote + 1;
    document += piece.slice(at, to);
    isInString = quote !== -1;
    return to;
  }

  /** @returns where the string ends, or the piece does */
  function scanString(piece: string, at: number): number {
    const text = raw + piece.slice(at);
    const end = closingQuote(text, raw.length);
    if (end !== -1) {
      const to = at + end + 1 - raw.length;
      closeString(text.slice(0, end));
      return to;
    }
    const cut = text.length > SHORT_STRING ? wholeEscapes(text) : 0;
    if (cut > 0) parsed.push(parseString(text.slice(0, cut)));
    raw = text.slice(cut);
    return piece.length;
  }

  function closeString(last: string): void {
    if (parsed.length === 0 && last.length <= SHORT_STRING) {
      document += `${last}"`;
    } else {
      document += `${mark}${long.length}"`;
      parsed.push(parseString(last));
      long.push(parsed.join(""));
    }
    raw = "";
    parsed = [];
    isInString = false;
  }

  function unmarked(_: string, value: unknown): unknown {
    return typeof value === "string" && value.startsWith(mark) ? long[Number(value.slice(mark.length))] : value;
  }

  return {
    push(piece) {
      if (!isShort) return scan(piece);
      document += piece;
      if (document.length <= SHORT_DOCUMENT) return;
      isShort = false;
      const begun = document;
      document = "";
      scan(begun);
    },
    end() {
      if (isInString) throw new SyntaxError("an unterminated string");
      return long.length > 0 ? JSON.parse(document, unmarked) : JSON.parse(document);
    },
  };
}

function parseString(raw: string): string {
  return JSON.parse(`"${raw}"`);
}

/** Where the string that `text` begins with ends; -1 if it continues. @param from where the search for a quote begins */
function closingQuote(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1))
    if (backslashesBefore(text, quote) % 2 === 0) return quote;
  return -1;
}

function backslashesBefore(text: string, to: number): number {
  let at = to;
  while (at > 0 && text.charCodeAt(at - 1) === BACKSLASH) at--;
  return to - at;
}

const BACKSLASH = "\\".charCodeAt(0);

/** The length of a text without the escape that its end may cut. */
function wholeEscapes(text: string): number {
  const last = text.lastIndexOf("\\");
  if (last < Math.max(0, text.length - ESCAPE) || backslashesBefore(text, last) % 2 === 1) return text.length;
  const length = text[last + 1] === "u" ? ESCAPE : 2;
  return last + length > text.length ? last : text.length;
}
