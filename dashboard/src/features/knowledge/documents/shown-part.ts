/** A page that shows more is slow to lay out. */
const SHOWN_MAX = 200_000;

export interface ShownPart {
  before: string;
  /** The chunk; "" when there is none in the text. */
  marked: string;
  after: string;
  isCutBefore: boolean;
  isCutAfter: boolean;
}

/** The part of a document's text that a page shows: its beginning, or what is around a chunk. */
export function shownPart(text: string, chunk: string | undefined): ShownPart {
  const at = chunk === undefined ? -1 : text.indexOf(chunk);
  const marked = at < 0 || chunk === undefined ? "" : chunk;
  const start = Math.max(0, Math.min(at - SHOWN_MAX / 2, text.length - SHOWN_MAX));
  const end = start + SHOWN_MAX;
  const place = Math.max(at, start);
  return {
    before: text.slice(start, place),
    marked,
    after: text.slice(place + marked.length, end),
    isCutBefore: start > 0,
    isCutAfter: end < text.length,
  };
}
