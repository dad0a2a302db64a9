import { getDocumentProxy } from "unpdf";
import { Refusal } from "../reading.ts";
import { type Line, linesOf } from "./pdf-lines.ts";

const PAGES_MAX = 5_000;
/** Larger letters than those of the text, by this factor, are a heading's. */
const HEADING_FACTOR = 1.15;
const HEADING_CHARACTERS_MAX = 150;
const HEADING_LEVELS = 3;
/** Of which a line must be at the edge to be one of the margin. */
const MARGIN_PAGES_MIN = 3;

/** @throws Refusal */
export async function textOfPdf(bytes: Uint8Array): Promise<string> {
  const pdf = await getDocumentProxy(new Uint8Array(bytes)).catch(refuse);
  if (pdf.numPages > PAGES_MAX) {
    throw new Refusal(`The PDF has ${pdf.numPages.toLocaleString("en")} pages. At most 5,000 can be read: split it.`);
  }
  const pages: Line[][] = [];
  for (let number = 1; number <= pdf.numPages; number++) {
    const page = await pdf.getPage(number);
    const { items } = await page.getTextContent();
    pages.push(linesOf(items));
    page.cleanup();
  }
  const lines = withoutMargins(pages);
  if (lines.length === 0) {
    throw new Refusal("The PDF has no text, only pictures. Let a program for text recognition (OCR) read it first.");
  }
  return markdownOf(lines);
}

function refuse(error: Error): never {
  if (error.name === "PasswordException") throw new Refusal("The PDF is encrypted.");
  if (error.name === "InvalidPDFException") throw new Refusal("The file is not a PDF, or it is damaged.");
  throw error;
}

/** Without the lines at the top and bottom that most pages have, such as their numbers. */
function withoutMargins(pages: readonly Line[][]): Line[] {
  const edges = pages.flatMap((lines) => [...new Set([lines[0], lines.at(-1)].map(patternOf))]);
  const counts = Map.groupBy(edges, (pattern) => pattern);
  const isMargin = (line: Line) =>
    (counts.get(patternOf(line))?.length ?? 0) >= Math.max(MARGIN_PAGES_MIN, pages.length / 2);
  // What stands at the top of the first page may be the title.
  return pages.flatMap((lines, page) =>
    lines.filter((line, at) => !(((at === 0 && page > 0) || at === lines.length - 1) && isMargin(line))),
  );
}

function patternOf(line: Line | undefined): string {
  return line?.text.replace(/\p{Nd}+/gu, "1") ?? "";
}

function markdownOf(lines: readonly Line[]): string {
  const levels = headingLevels(lines);
  let text = "";
  let before: Line | null = null;
  for (const line of lines) {
    const level = isShort(line) ? levels.get(line.size) : undefined;
    const levelBefore = before && isShort(before) ? levels.get(before.size) : undefined;
    if (level && level === levelBefore && line.follows) text += ` ${line.text}`;
    else if (level) text += `\n\n${"#".repeat(level)} ${line.text}`;
    else if (before === null || levelBefore || !line.follows) text += `\n\n${line.text}`;
    else text = continued(text, before, line);
    before = line;
  }
  return text;
}

/** A line that fills the column goes on in the next one; a shorter one, such as of a list, ends. */
function continued(text: string, before: Line, line: Line): string {
  if (!before.isFull || before.hasColumns || line.hasColumns) return `${text}\n${line.text}`;
  const isDivided = /\p{Ll}-$/u.test(before.text) && /^\p{Ll}/u.test(line.text);
  return isDivided ? text.slice(0, -1) + line.text : `${text} ${line.text}`;
}

function isShort(line: Line): boolean {
  return line.text.length <= HEADING_CHARACTERS_MAX && /\p{L}/u.test(line.text);
}

/** The level of a heading by the size of its letters: the largest first. */
function headingLevels(lines: readonly Line[]): Map<number, number> {
  const characters = new Map<number, number>();
  for (const { size, text } of lines) characters.set(size, (characters.get(size) ?? 0) + text.length);
  const [[body = 0] = []] = [...characters].sort(([, one], [, other]) => other - one);
  const larger = [...characters.keys()]
    .filter((size) => size >= body * HEADING_FACTOR)
    .sort((one, other) => other - one);
  return new Map(larger.map((size, at) => [size, Math.min(at + 1, HEADING_LEVELS)]));
}
