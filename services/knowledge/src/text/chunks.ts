import { blocksOf, type Lines } from "./blocks.ts";
import { segmenterOf, sentencesOf } from "./sentences.ts";

export interface Chunk {
  /** The titles above it, from the outermost: "Prices > Delivery". Empty if there are none. */
  heading: string;
  text: string;
}

/** About how long a chunk is: enough for an answer with what surrounds it. */
export const CHUNK_CHARACTERS = 1_200;
/** A row of a table is never cut, unless it is longer than this. */
export const ROW_CHARACTERS_MAX = 4 * CHUNK_CHARACTERS;
/** A longer sentence is not repeated. */
const OVERLAP_CHARACTERS_MAX = 250;

/**
 * Cuts a document in Markdown into chunks of at most CHUNK_CHARACTERS: at headings, else at paragraphs, sentences or words, and never
 * within a word or a row of a table. A chunk that continues a paragraph begins with the last sentence of the chunk before, and one that
 * continues a table with the table's first row.
 * @param language of its sentences, as ISO 639-1 code
 */
export function chunksOf(text: string, language: string): Chunk[] {
  const chunks: Chunk[] = [];
  const titles: string[] = [];
  let section: Lines[] = [];
  const endSection = () => {
    const heading = titles.filter(Boolean).join(" > ");
    for (const piece of filled(section.flatMap((block) => piecesOf(block, language))))
      chunks.push({ heading, text: piece });
    section = [];
  };
  let unread = "";
  for (const block of blocksOf(text)) {
    if (block.kind !== "heading") {
      section.push(block);
      unread = "";
      continue;
    }
    endSection();
    // A title with nothing below it is kept as a text.
    if (unread !== "" && titles.length >= block.level) keepTitle();
    titles.length = Math.min(titles.length, block.level - 1);
    while (titles.length < block.level - 1) titles.push("");
    titles.push(block.text);
    unread = block.text;
  }
  endSection();
  if (unread !== "") keepTitle();
  return chunks;

  function keepTitle(): void {
    const heading = titles.slice(0, -1).filter(Boolean).join(" > ");
    chunks.push({ heading, text: unread });
  }
}

/** A part of a block that is kept whole if it can be. */
interface Piece {
  text: string;
  /** What separates it from a piece before it in the same chunk. */
  joint: string;
  /** What a chunk that begins with it repeats of the text before. */
  repeated: string;
}

function piecesOf(block: Lines, language: string): Piece[] {
  if (block.kind === "table") return rowsOf(block.lines, language);
  const units =
    block.kind === "code" ? block.lines.map((line) => `${line}\n`) : sentencesOf(block.lines.join("\n"), language);
  const whole = units.flatMap((unit) => (unit.length > CHUNK_CHARACTERS ? wordsOf(unit, language) : [unit]));
  return whole.map((unit, at) => {
    const before = block.kind === "code" ? "" : (whole[at - 1] ?? "");
    return {
      text: unit,
      joint: at === 0 ? "\n\n" : "",
      repeated: before.length <= OVERLAP_CHARACTERS_MAX ? before : "",
    };
  });
}

function rowsOf(lines: readonly string[], language: string): Piece[] {
  const hasHead = /^\|[\s:|-]+\|?$/.test(lines[1] ?? "");
  const head = hasHead ? lines.slice(0, 2).join("\n") : "";
  const isRepeated = head.length <= CHUNK_CHARACTERS / 4;
  const rows = hasHead ? [head, ...lines.slice(2)] : lines;
  return rows.flatMap((row, at) => {
    const joint = at === 0 ? "\n\n" : "\n";
    const repeated = hasHead && isRepeated && at > 0 ? `${head}\n` : "";
    const parts = row.length > ROW_CHARACTERS_MAX ? wordsOf(row, language) : [row];
    return parts.map((text, part) => ({ text, joint: part === 0 ? joint : "", repeated: part === 0 ? repeated : "" }));
  });
}

/** Puts pieces together while they fit. A paragraph that would not fit starts a new chunk if the one before is at least half full. */
function filled(pieces: readonly Piece[]): string[] {
  const chunks: string[] = [];
  let chunk = "";
  const end = () => {
    if (chunk.trim() !== "") chunks.push(chunk.trim());
    chunk = "";
  };
  for (const [at, { text, joint, repeated }] of pieces.entries()) {
    const isParagraph = joint === "\n\n";
    const length = isParagraph ? paragraphLength(pieces, at) : text.length;
    const room = CHUNK_CHARACTERS - chunk.length - joint.length;
    const fits = length <= room;
    const mayFill = isParagraph && chunk.length < CHUNK_CHARACTERS / 2 && text.length <= room;
    if (chunk !== "" && !fits && !mayFill) {
      end();
      if (repeated.length + text.length <= CHUNK_CHARACTERS) chunk = repeated;
      chunk += text;
    } else chunk += chunk === "" ? text : chunk.endsWith("\n") && joint === "\n" ? text : joint + text;
  }
  end();
  return chunks;
}

function paragraphLength(pieces: readonly Piece[], from: number): number {
  let length = 0;
  for (let at = from; at < pieces.length; at++) {
    const { text, joint } = pieces[at] as Piece;
    if (at > from && joint === "\n\n") break;
    length += text.length + joint.length;
    if (length > CHUNK_CHARACTERS) break;
  }
  return length;
}

/** Cuts a text between words into parts of at most CHUNK_CHARACTERS, of which the text is the concatenation. */
function wordsOf(text: string, language: string): string[] {
  const parts: string[] = [];
  let part = "";
  for (const { segment } of segmenterOf(language, "word").segment(text)) {
    // No language has such words: it is encoded data, or a line drawn with characters.
    const pieces = segment.length > CHUNK_CHARACTERS ? (segment.match(TOO_LONG_A_WORD) ?? []) : [segment];
    for (const piece of pieces) {
      if (part.length + piece.length > CHUNK_CHARACTERS) {
        parts.push(part);
        part = "";
      }
      part += piece;
    }
  }
  return [...parts, part].filter((each) => each.trim() !== "");
}

const TOO_LONG_A_WORD = new RegExp(`[^]{1,${CHUNK_CHARACTERS - 1}}`, "gu");
