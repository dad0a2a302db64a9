import { parseHTML } from "linkedom";
import { oneLine, tableRow, tableRule } from "./markdown.ts";

const SILENT = new Set([
  "script",
  "style",
  "noscript",
  "template",
  "svg",
  "math",
  "iframe",
  "object",
  "head",
  "select",
  "button",
]);
const BLOCKS = new Set(
  "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form header hr html main p section summary ul ol".split(
    " ",
  ),
);
/** Of lists within lists. */
const INDENTS_MAX = 4;
const ELEMENT = 1;
const TEXT = 3;

/** The part of the DOM that is needed: the types of browsers are not those of a service. */
export interface PageNode {
  nodeType: number;
  nodeValue: string | null;
  /** Of an element. */
  localName: string;
  firstChild: PageNode | null;
  nextSibling: PageNode | null;
  parentNode: PageNode | null;
}

/** The text of a part of a page, as Markdown with its headings, lists and tables. */
export function markdownOfHtml(html: string): string {
  const { document } = parseHTML(`<!doctype html><html><body>${html}</body></html>`);
  return markdownOf(document.body);
}

/** The same of an element. Walks without recursion, because pages may be nested a million deep. */
export function markdownOf(root: PageNode): string {
  const page = writer();
  for (let node: PageNode | null = root; node; ) {
    const isEntered = node.nodeType === ELEMENT ? page.enter(node) : page.text(node);
    if (isEntered && node.firstChild) {
      node = node.firstChild;
      continue;
    }
    for (;;) {
      if (node.nodeType === ELEMENT) page.leave(node);
      if (node === root) return page.end();
      if (node.nextSibling) break;
      node = node.parentNode as PageNode;
    }
    node = node.nextSibling;
  }
  return page.end();
}

interface Writer {
  /** @returns whether its children are to be read */
  enter(element: PageNode): boolean;
  leave(element: PageNode): void;
  text(node: PageNode): false;
  end(): string;
}

function writer(): Writer {
  const blocks: string[] = [];
  let line = "";
  /** What the next block begins with. */
  let prefix = "";
  let depth = 0;
  /** How many `pre` elements are open: their white space counts. */
  let preformatted = 0;
  /** The table that is open; tables within its cells are text of it. */
  let table: { element: PageNode; rows: string[][] } | null = null;

  const flush = () => {
    const text = oneLine(line);
    line = "";
    if (text === "") return;
    blocks.push(prefix + text);
    prefix = "";
  };
  const endTable = (rows: string[][]) => {
    const [head = [], ...rest] = rows.filter((row) => row.some((cell) => oneLine(cell) !== ""));
    if (head.length > 0) blocks.push([tableRow(head), tableRule(head.length), ...rest.map(tableRow)].join("\n"));
  };

  return {
    enter: (element) => {
      const name = nameOf(element);
      if (SILENT.has(name)) return false;
      if (table) {
        if (name === "tr") table.rows.push([]);
        if (name === "td" || name === "th") table.rows.at(-1)?.push("");
        return true;
      }
      if (name === "table") {
        flush();
        table = { element, rows: [] };
      } else if (name === "pre") {
        flush();
        preformatted++;
      } else if (name === "li") {
        flush();
        prefix = `${"  ".repeat(Math.min(depth++, INDENTS_MAX))}- `;
      } else if (headingLevel(name)) {
        flush();
        prefix = `${"#".repeat(headingLevel(name))} `;
      } else if (BLOCKS.has(name)) flush();
      else if (name === "br") line += preformatted ? "\n" : " ";
      return true;
    },
    leave: (element) => {
      const name = nameOf(element);
      if (table) {
        if (table.element !== element) return;
        const { rows } = table;
        table = null;
        return endTable(rows);
      }
      if (name === "li" || headingLevel(name)) {
        flush();
        prefix = "";
        if (name === "li") depth--;
      } else if (name === "pre" && preformatted > 0) {
        preformatted--;
        if (line.trim() !== "") blocks.push(`\`\`\`\n${line.replace(/^\n+|\s+$/g, "")}\n\`\`\``);
        line = "";
      } else if (BLOCKS.has(name)) flush();
    },
    text: (node) => {
      if (node.nodeType !== TEXT) return false;
      const text = node.nodeValue ?? "";
      const row = table?.rows.at(-1);
      if (row && row.length > 0) row[row.length - 1] += text;
      else line += preformatted ? text : text.replace(/\s+/g, " ");
      return false;
    },
    end: () => {
      flush();
      return joined(blocks);
    },
  };
}

function nameOf(element: PageNode): string {
  return element.localName.toLowerCase();
}

function headingLevel(name: string): number {
  return /^h[1-6]$/.test(name) ? Number(name[1]) : 0;
}

/** The items of a list stand together. */
function joined(blocks: readonly string[]): string {
  const isItem = (block: string | undefined) => block !== undefined && /^ *- /.test(block);
  return blocks.map((block, at) => (isItem(block) && isItem(blocks[at + 1]) ? `${block}\n` : `${block}\n\n`)).join("");
}
