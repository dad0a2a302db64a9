/**
 * A reply in two forms: as the model writes it, in pieces, and as a voice speaks it, without the marks of Markdown. Words stay, code
 * blocks are left out, and each item of a list, heading or row of a table is a sentence. What is spoken does not depend on how the
 * text arrives.
 */
export interface Speakable {
  /** Appends a piece. Returns what can be spoken now; what may turn out to be markup is held back. */
  push(piece: string): string;
  /** Returns what was held back; a further piece begins a new line. */
  pause(): string;
  /** The reply is whole. Returns what was held back. */
  end(): string;
  /** Everything that can be spoken so far. */
  spoken(): string;
  /** The beginning of what was written that so many characters of `spoken` say: all of it once a whole reply was spoken whole. */
  writtenUntil(characters: number): string;
}

/** Texts without a letter or a digit, such as an emoji, have no sound with most voices. */
export const SPEAKABLE = /[\p{L}\p{N}]/u;

/** What is spoken for a part of the text. A copy is the same text; anything else is spoken for its part as a whole. */
interface Segment {
  spokenAt: number;
  spokenLength: number;
  writtenAt: number;
  isCopy: boolean;
}

/** Where something other than plain words may begin. */
const SPECIAL =
  /[\s\\*_~`[<|&]|\uFE0F|\u20E3|!(?=\[|$)|https?:\/\/|www\.|(?![©®™‼⁉ℹ])\p{Extended_Pictographic}|\p{Regional_Indicator}/giu;
/** An address that may have begun. */
const UNSURE_END = /(?<![a-z\d])(?:h|ht|htt|https?|https?:\/?|w|ww|www)$/iu;
const HALF_CHARACTER = /[\uD800-\uDBFF]?$/;
/** Marks at the beginning of a line of which more may follow. */
const UNSURE_LINE = /[ \t\r>#*+_=~`|:.)\d•◦▪‣●■□▶►➤·–[\]xX-]*$/y;
const FENCE = /[ \t]*(`{3,}|~{3,})/y;
/** A line between sections, below a heading, or below the head of a table. */
const RULE = /[ \t]*(?:=+|(?:[-*_=|:][ \t]*){3,})\r?(?:\n|$)/y;
const INDENT = /[ \t]+|>[ \t]?/y;
const BULLET =
  /(?:#{1,6}[ \t]|#{2,6}(?=[\p{L}\p{N}*_])|[-*+–][ \t]|[•◦▪‣●■□▶►➤·][ \t]*)(?:[ \t]*\[[ xX]\][ \t])?[ \t]*/uy;
const NUMBER = /\d{1,9}[.)][ \t]+/y;
const CELL_END = /[ \t]*\|[ \t\r|]*/y;
const LINE_END = /[ \t\r]*\n/y;
const HEADING = /#+/y;
/** Hashes may close a heading. */
const HEADING_END = /[ \t]+#+(?=[ \t\r]*(?:\n|$))/y;
const UNSURE_HEADING_END = /[ \t]+#*[ \t\r]*$/y;
const SPACE = /[^\S\n]+/y;
const STARS = /\*+|_+/y;
const MARKS = /`+|~~+|[\uFE0F\u20E3]+/y;
/** A mark that is meant, or the end of a line. */
const ESCAPED = /\\(?:[!-/:-@[-`{-~]|(?=[\r\n]))/y;
const ADDRESS = /(?:https?:\/\/|www\.)[!#-;=?-Z\\^_a-z{}~]*/iy;
/** A tag has attributes with values, if any: what else is in such brackets is words. */
const BEGUN_TAG = String.raw`\/?[a-z][a-z\d-]{0,20}(?:[ \t]+[a-z:_-]{1,30}=(?:"[^"<>\n]{0,500}"|'[^'<>\n]{0,500}'|[^\s"'<>]{1,300})){0,20}`;
const TAG = new RegExp(String.raw`<(?:!--[^<>\n]{0,300}|${BEGUN_TAG}[ \t]*\/?)>`, "iy");
/** The beginning of a tag, or of an address in brackets. */
const OPEN_TAG = new RegExp(
  [
    String.raw`<(?:[\/!]|!-|!--[^<>\n]{0,300}|[a-z][^\s<>]{0,300}`,
    String.raw`${BEGUN_TAG}(?:[ \t]+(?:[a-z:_-]{1,30}(?:=(?:"[^"<>\n]{0,500}|'[^'<>\n]{0,500}|[^\s"'<>]{1,300})?)?)?|[ \t]*\/)?)?$`,
  ].join("|"),
  "iy",
);
const ADDRESS_TAG = /<(?=(?:https?:\/\/[^<>\s]{0,290}|[a-z][^\s@<>]{0,100}@[^\s<>]{1,100})>)/iy;
const EMOJI = /(?:\p{RGI_Emoji}|\p{Regional_Indicator}|\p{Extended_Pictographic}\p{Emoji_Modifier}?)[\uFE0F\u200D]*/vy;

/** Characters that HTML names, as some models write them. */
const NAMED: Readonly<Record<string, string>> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", "#34": '"', "#39": "'" },
  ...{ nbsp: " ", "#160": " ", ndash: "–", mdash: "—", hellip: "…", rsquo: "’", euro: "€", pound: "£" },
};
const NAME = new RegExp(`&(${Object.keys(NAMED).join("|")});`, "y");
const OPEN_NAME = /&#?[a-z\d]{0,6}$/y;

/** A bracket that does not close within so many characters is a bracket. */
const LINK_MAX = 1_000;

export function speakable(): Speakable {
  /** What may be read now: everything that was written, or the text of a link. */
  let text = "";
  let at = 0;
  /** Half a character, whose other half comes with the next piece. */
  let half = "";
  let isEnded = false;
  let spoken = "";
  const segments: Segment[] = [];
  let isLineStart = true;
  let lineAt = 0;
  /** The line is a sentence of its own, whatever ends it. */
  let isItem = false;
  let itemAt = 0;
  let isHeading = false;
  let fence: string | null = null;
  /** Emphasis that has begun in this paragraph. */
  let emphases = 0;

  const match = (pattern: RegExp) => {
    pattern.lastIndex = at;
    return pattern.exec(text);
  };
  const matched = (pattern: RegExp) => match(pattern)?.[0].length ?? 0;
  const isTouching = (length: number, isAll: boolean) => !isAll && at + length >= text.length;

  function speak(words: string, length: number, isCopy = false): void {
    const last = segments.at(-1);
    if (words !== "") {
      const follows = last?.isCopy && last.writtenAt + last.spokenLength === at;
      if (isCopy && follows) last.spokenLength += words.length;
      else segments.push({ spokenAt: spoken.length, spokenLength: words.length, writtenAt: at, isCopy });
    }
    spoken += words;
    at += length;
  }
  const skip = (length: number) => speak("", length);
  const copy = (length: number) => speak(text.slice(at, at + length), length, true);

  /** @param isAll nothing follows */
  function read(isAll: boolean): void {
    while (at < text.length && (isLineStart ? readLineStart(isAll) : readInline(isAll)));
  }

  /** Reads what begins at `at`. Returns false if that depends on what follows. */
  function readLineStart(isAll: boolean): boolean {
    if (fence !== null) return readCode(fence, isAll);
    if (!isAll && match(UNSURE_LINE)) return false;
    const line = text.indexOf("\n", at);
    const opening = match(FENCE)?.[1];
    if (opening !== undefined) {
      if (line < 0 && !isAll) return false;
      const rest = text.slice(at, line < 0 ? undefined : line).trimStart();
      if (opening.startsWith("~") || !rest.slice(opening.length).includes("`")) {
        fence = opening;
        skip(line < 0 ? text.length - at : line + 1 - at);
        return true;
      }
    }
    const rule = matched(RULE);
    const mark = matched(INDENT) || matched(BULLET) || matched(CELL_END);
    if (rule > 0) return done(() => skip(rule));
    isItem ||= matched(BULLET) + matched(CELL_END) + matched(NUMBER) > 0;
    isHeading ||= matched(BULLET) > 0 && matched(HEADING) > 0;
    if (mark > 0) return done(() => skip(mark));
    itemAt = spoken.length;
    copy(matched(NUMBER));
    isLineStart = false;
    return true;
  }

  function readCode(opening: string, isAll: boolean): boolean {
    const line = text.indexOf("\n", at);
    if (line < 0 && !isAll) return false;
    const end = line < 0 ? text.length : line;
    const mark = text.slice(at, end).trim();
    if (mark.length >= opening.length && mark === opening.charAt(0).repeat(mark.length)) fence = null;
    skip(Math.min(text.length, end + 1) - at);
    return true;
  }

  function readInline(isAll: boolean): boolean {
    SPECIAL.lastIndex = at;
    const special = SPECIAL.exec(text)?.index ?? text.length;
    if (special > at) {
      const unsure = special === text.length && !isAll ? (UNSURE_END.exec(text.slice(at))?.[0].length ?? 0) : 0;
      copy(special - at - unsure);
      return unsure === 0;
    }
    const next = text.charAt(at);
    if (/\s|\|/.test(next)) return readSpace(isAll);
    if (next === "*" || next === "_") return readStars(isAll);
    if (next === "[" || next === "!") return readLink(isAll);
    if (next === "<") return readTag(isAll);
    if (next === "&") return readName(isAll);
    if (next === "\\") {
      if (isTouching(1, isAll)) return false;
      if (match(ESCAPED)) skip(1);
      return done(() => copy(1));
    }
    const address = matched(ADDRESS);
    if (address > 0) return readAddress(address, isAll);
    const mark = matched(MARKS) || matched(EMOJI);
    if (isTouching(mark || 1, isAll)) return false;
    return done(() => (mark > 0 ? skip(mark) : copy(1)));
  }

  function readSpace(isAll: boolean): boolean {
    if (isHeading) {
      if (!isAll && match(UNSURE_HEADING_END)) return false;
      skip(matched(HEADING_END));
      if (at === text.length) return true;
    }
    const cell = matched(CELL_END);
    const length = matched(LINE_END) || cell || matched(SPACE);
    const isLine = matched(LINE_END) > 0;
    if (!isLine && isTouching(length, isAll)) return false;
    if (!isLine && cell === 0) return done(() => copy(length));
    const isRowEnd = !isLine && /^\r?(?:\n|$)/.test(text.slice(at + cell));
    if (!isLine) {
      const isCell = isItem || /^\s|\s$/.test(text.slice(at, at + cell));
      isItem ||= isRowEnd;
      if (isRowEnd) skip(cell);
      else if (isCell) speak(", ", cell);
      else copy(cell);
      return true;
    }
    if (isItem && /[\p{L}\p{M}\p{N}\p{Pe}\p{Pf}"']\s*$/u.test(spoken.slice(itemAt))) speak(".", 0);
    copy(length);
    beginLine();
    return true;
  }

  function beginLine(): void {
    if (text.slice(lineAt, at).trim() === "") emphases = 0;
    isLineStart = true;
    isItem = false;
    isHeading = false;
    lineAt = at;
  }

  /** Stars and underscores that may begin or end emphasis. A star that stands alone, or in a number, is a word. */
  function readStars(isAll: boolean): boolean {
    const length = matched(STARS);
    if (isTouching(length, isAll)) return false;
    const before = text.charAt(at - 1) || " ";
    const after = text.charAt(at + length) || " ";
    const isUnderscore = text.charAt(at) === "_";
    const isWord = (character: string) => /[\p{L}\p{N}]/u.test(character);
    const isDialed = !isUnderscore && length === 1 && /\d/.test(after) && !/\p{L}/u.test(before);
    const isPower = !isUnderscore && /\d/.test(before) && /\d/.test(after);
    const mayEnd = !/\s/.test(before) && !(isUnderscore && isWord(after));
    const mayBegin =
      !(/\s/.test(after) || (/\s/.test(before) && /[.,;:!?)]/.test(after)) || (isUnderscore && isWord(before))) &&
      !(isDialed || isPower);
    if (mayEnd && emphases > 0) emphases--;
    else if (mayBegin) emphases++;
    else return done(() => copy(length));
    return done(() => skip(length));
  }

  /** A link or a picture is its text. */
  function readLink(isAll: boolean): boolean {
    const from = text.charAt(at) === "!" ? at + 1 : at;
    if (from >= text.length) return isAll && done(() => copy(1));
    const close = closing(from, "[", "]");
    if (close === null) return !mayClose(from, isAll) && done(() => copy(from + 1 - at));
    const target = text.charAt(close + 1);
    if (target === "" && !isAll) return false;
    if (target === ":" && text.slice(lineAt, at).trim() === "" && text.charAt(from + 1) !== "^")
      return readReference(isAll);
    const note = text.slice(from + 1, close);
    if (/^(?:\^.+|\d{1,3})$/.test(note) && target !== "(")
      return done(() => skip(close + 1 + Number(target === ":") - at));
    if (target !== "(" && target !== "[") return done(() => copy(from + 1 - at));
    const end = target === "(" ? closing(close + 1, "(", ")") : closing(close + 1, "[", "]");
    if (end === null && mayClose(close + 1, isAll)) return false;
    readWithin(from + 1, close);
    // An address that was cut off ends where the next words may begin.
    skip((end ?? close + unclosed(close + 1)) + 1 - at);
    return true;
  }

  /** The address of a link by name, a line of its own. */
  function readReference(isAll: boolean): boolean {
    const line = text.indexOf("\n", at);
    if (line < 0 && !isAll) return false;
    skip((line < 0 ? text.length : line + 1) - at);
    beginLine();
    return true;
  }

  /** Reads a part of the text on its own. */
  function readWithin(from: number, to: number): void {
    const whole = text;
    at = from;
    text = whole.slice(0, to);
    read(true);
    text = whole;
  }

  /** The position of the bracket that closes the one at `from`; null if it is not there, or not in this line. */
  function closing(from: number, open: string, close: string): number | null {
    let depth = 0;
    for (let index = from; index < Math.min(text.length, from + LINK_MAX); index++) {
      const character = text.charAt(index);
      if (character === "\n") return null;
      if (character === "\\" && text.charAt(index + 1) !== "\n") index++;
      else if (character === open) depth++;
      else if (character === close && --depth === 0) return index;
    }
    return null;
  }

  /** Whether a bracket that has not closed may still do so. */
  function mayClose(from: number, isAll: boolean): boolean {
    return !isAll && text.length < from + LINK_MAX && !text.includes("\n", from);
  }

  /** The length of an address without its bracket. */
  function unclosed(from: number): number {
    return text.slice(from).search(/\s|$/);
  }

  function readTag(isAll: boolean): boolean {
    if (match(ADDRESS_TAG)) {
      const close = text.indexOf(">", at);
      readWithin(at + 1, close);
      return done(() => skip(1));
    }
    const tag = match(TAG)?.[0];
    if (tag !== undefined)
      return done(() => speak(/^<(?:br|\/?(?:p|div|li|tr|td|th|h\d))\b/i.test(tag) ? " " : "", tag.length));
    if (!isAll && match(OPEN_TAG)) return false;
    return done(() => copy(1));
  }

  function readName(isAll: boolean): boolean {
    const [written, name = ""] = match(NAME) ?? [];
    if (written !== undefined) return done(() => speak(NAMED[name] ?? "", written.length));
    return (isAll || !match(OPEN_NAME)) && done(() => copy(1));
  }

  /** Of an address, its host is spoken: nobody can note down the rest by ear. */
  function readAddress(length: number, isAll: boolean): boolean {
    if (isTouching(length, isAll)) return false;
    if (/[a-z\d]/i.test(text.charAt(at - 1))) return done(() => copy(1));
    const address = text.slice(at, at + length).replace(/[.,;:!?)*_'\\]+$/, "");
    const host = address
      .replace(/^https?:\/\//i, "")
      .replace(/^[^/?#]*@/, "")
      .replace(/^www\./i, "")
      .replace(/[/?#:].*$/s, "");
    return done(() => speak(host, Math.max(1, address.length)));
  }

  function since(length: number): string {
    return spoken.slice(length);
  }

  function pause(): string {
    const before = spoken.length;
    text += half;
    half = "";
    read(true);
    beginLine();
    return since(before);
  }

  return {
    push: (piece) => {
      const before = spoken.length;
      const given = half + piece;
      half = HALF_CHARACTER.exec(given)?.[0] ?? "";
      text += given.slice(0, given.length - half.length);
      read(false);
      return since(before);
    },
    pause,
    end: () => {
      isEnded = true;
      return pause();
    },
    spoken: () => spoken,
    writtenUntil: (characters) => {
      if (isEnded && characters >= spoken.length) return text;
      if (characters <= 0) return "";
      const index = segments.findLastIndex(({ spokenAt }) => spokenAt < characters);
      const segment = segments[index];
      if (!segment) return "";
      const { spokenAt, spokenLength, writtenAt, isCopy } = segment;
      const isPart = characters < spokenAt + spokenLength;
      if (isPart) return text.slice(0, isCopy ? writtenAt + characters - spokenAt : writtenAt);
      // The end of a mark, such as a link's address, belongs to the words in it.
      return text.slice(0, segments[index + 1]?.writtenAt ?? (isCopy ? writtenAt + spokenLength : at));
    },
  };
}

function done(work: () => void): true {
  work();
  return true;
}
