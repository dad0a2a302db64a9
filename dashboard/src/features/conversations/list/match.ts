import type { components } from "../../../api/gen/schema.ts";

/** A piece of a line; a match is what was searched. */
export interface Piece {
  text: string;
  isMatch: boolean;
}

/** Where a search found its text: who said it, or what it is, and the line around it. */
export interface Match {
  where: string;
  pieces: Piece[];
}

/** Characters shown before the first match, and of the whole line. */
const BEFORE_MAX = 40;
const LINE_MAX = 160;

type Searched = Pick<
  components["schemas"]["Conversation"],
  "conversation_transcript" | "mobile_number" | "conversation_metadata"
>;

/** The first text of a conversation that contains what was searched; null if only texts contain it that the list does not have. */
export function matchIn(conversation: Searched, search: string): Match | null {
  for (const { where, text } of searchedTexts(conversation)) {
    const pieces = markedLine(text, search);
    if (pieces) return { where, pieces };
  }
  return null;
}

const SPEAKERS = { user: "User", assistant: "Agent", person: "Person" } as const;

function* searchedTexts({ conversation_transcript, mobile_number, conversation_metadata }: Searched) {
  for (const { role, content } of conversation_transcript ?? []) yield { where: SPEAKERS[role], text: content };
  if (mobile_number) yield { where: "Number", text: mobile_number };
  yield* textsOf("", conversation_metadata);
}

/** The words in an object, by the name of their field. */
function* textsOf(name: string, value: unknown): Generator<{ where: string; text: string }> {
  if (typeof value === "object" && value !== null)
    for (const [field, each] of Object.entries(value)) yield* textsOf(field, each);
  else if (value !== null && value !== undefined) yield { where: name, text: String(value) };
}

/** The line around the first place of a text, with all places in it marked; null without one. */
export function markedLine(text: string, search: string): Piece[] | null {
  const places = new RegExp(search.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"), "giu");
  const first = text.search(places);
  if (first < 0) return null;
  const { line, from } = lineAround(text, first, search.length);
  const pieces: Piece[] = from > 0 ? [{ text: "…", isMatch: false }] : [];
  let at = 0;
  for (const { index, 0: found } of line.matchAll(places)) {
    pieces.push({ text: line.slice(at, index), isMatch: false }, { text: found, isMatch: true });
    at = index + found.length;
  }
  const isCut = from + line.length < text.trimEnd().length;
  pieces.push({ text: line.slice(at) + (isCut ? "…" : ""), isMatch: false });
  return pieces.filter((piece) => piece.text !== "");
}

/** The line that holds a place; a long one begins with a word shortly before it. */
function lineAround(text: string, place: number, length: number): { line: string; from: number } {
  const begins = text.lastIndexOf("\n", place - 1) + 1;
  const breaks = text.indexOf("\n", place + length);
  const ends = breaks < 0 ? text.length : breaks;
  const space = text.indexOf(" ", place - BEFORE_MAX);
  const from = place - begins <= BEFORE_MAX ? begins : space >= 0 && space < place ? space + 1 : place;
  return { line: text.slice(from, Math.max(place + length, Math.min(ends, from + LINE_MAX))), from };
}
