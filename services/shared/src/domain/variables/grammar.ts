import { FIELD_TYPES, namesOf } from "../api-names.ts";
import { normalizeVariableName } from "./name.ts";

export type FieldType = keyof typeof FIELD_TYPES;

/** One `{{ … }}` as written; null where a part was left out. */
export interface Placeholder {
  key: string;
  fieldType: FieldType | null;
  description: string | null;
  defaultText: string | null;
}

/**
 * How many `{{` of a text may begin a placeholder: each takes 3 µs, and every turn reads the prompt. A run of braces counts once,
 * because only its last two can begin one.
 */
export const PLACEHOLDERS_MAX = 1_000;

/**
 * Cuts a text into plain pieces and placeholders, in reading order and time linear in its length. Never throws.
 *
 * Syntax: `{{ name [: TYPE [: description]] [| default] }}` (docs/api-reference.md#dynamic-variables). Anything else is plain text,
 * so that JSON, code and mistakes in a prompt stay visible as written:
 * - Whitespace, new lines too, is free around every part. Braces stand only inside a JSON string, so of `{{{x}}}` the inner
 *   `{{x}}` is the placeholder, and an unclosed `{{` swallows nothing after it.
 * - A name ends at the first `:` or `|`. One that normalizes to nothing makes plain text.
 * - TYPE is STRING, NUMBER, EMAIL or PHONE in any case; any other word makes it plain text: `{{"ok": true}}` is not a variable.
 * - A description may hold `:` and quotes; its whitespace runs become one space, a blank one counts as left out. The first `|`
 *   ends it.
 * - After the first thousand `{{`, everything is plain text.
 * - A default is a JSON string, in which `}}`, `|` and `:` are ordinary, or one word without whitespace, `"`, `|` or braces.
 *   Numbers, true and false stay as written (`1.50`). A blank one makes plain text; `""` is the empty default.
 */
export function parseText(text: string, placeholdersMax = PLACEHOLDERS_MAX): (string | Placeholder)[] {
  const pieces: (string | Placeholder)[] = [];
  let plainFrom = 0;
  let open = nextOpen(text, 0);
  for (let number = 1; open !== -1 && number <= placeholdersMax; number++) {
    const read = readPlaceholder(text, open);
    if (read) {
      if (open > plainFrom) pieces.push(text.slice(plainFrom, open));
      pieces.push(read.placeholder);
      plainFrom = read.end;
    }
    open = nextOpen(text, read ? read.end : open + 1);
  }
  if (plainFrom < text.length) pieces.push(text.slice(plainFrom));
  return pieces;
}

/** The next two braces that no brace follows; -1 if there are none. */
function nextOpen(text: string, from: number): number {
  const open = /\{\{(?!\{)/g;
  open.lastIndex = from;
  return open.exec(text)?.index ?? -1;
}

function readPlaceholder(text: string, open: number): { placeholder: Placeholder; end: number } | null {
  const nameEnd = seek(text, open + 2, /[:|{}]/g);
  let at = nameEnd;
  let fieldType: FieldType | null = null;
  let description: string | null = null;
  let defaultText: string | null = null;

  if (text[at] === ":") {
    const typeEnd = seek(text, at + 1, /[:|{}]/g);
    fieldType = findFieldType(text.slice(at + 1, typeEnd));
    if (fieldType === null) return null;
    at = typeEnd;
    if (text[at] === ":") {
      const descriptionEnd = seek(text, at + 1, /[|{}]/g);
      description =
        text
          .slice(at + 1, descriptionEnd)
          .trim()
          .replace(/\s+/g, " ") || null;
      at = descriptionEnd;
    }
  }
  if (text[at] === "|") {
    const read = readDefault(text, at + 1);
    if (read === null) return null;
    defaultText = read.value;
    at = read.end;
  }
  if (!text.startsWith("}}", at)) return null;
  const key = normalizeVariableName(text.slice(open + 2, nameEnd));
  return key === "" ? null : { placeholder: { key, fieldType, description, defaultText }, end: at + 2 };
}

function findFieldType(written: string): FieldType | null {
  const name = written.trim().toUpperCase();
  return namesOf(FIELD_TYPES).find((fieldType) => fieldType === name) ?? null;
}

function readDefault(text: string, from: number): { value: string; end: number } | null {
  const start = seek(text, from, /\S/g);
  if (text[start] === '"') {
    const end = jsonStringEnd(text, start);
    const value = parseJsonString(text.slice(start, end));
    return value === null ? null : { value, end: seek(text, end, /\S/g) };
  }
  const end = seek(text, start, /["|{}]/g);
  const word = text.slice(start, end).trim();
  return word === "" || /\s/.test(word) ? null : { value: word, end };
}

/** The index after the closing quote. Reads no text twice: the quote of the next `{{x|"` closes an unclosed string. */
function jsonStringEnd(text: string, quote: number): number {
  let at = seek(text, quote + 1, /["\\]/g);
  while (text[at] === "\\") at = seek(text, at + 2, /["\\]/g);
  return at + 1;
}

function parseJsonString(literal: string): string | null {
  try {
    return JSON.parse(literal);
  } catch {
    return null;
  }
}

/** The next match of the one-character global pattern, or the text's length. */
function seek(text: string, from: number, character: RegExp): number {
  character.lastIndex = from;
  return character.exec(text)?.index ?? text.length;
}
