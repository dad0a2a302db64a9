/** Lines of one paragraph, list, table, or code with its fences. */
export interface Lines {
  kind: "paragraph" | "table" | "code";
  lines: string[];
}

type Block = { kind: "heading"; level: number; text: string } | Lines;

const HEADING = /^ {0,3}(#{1,6})[ \t]+(.*?)[ \t]*#*$/;
const UNDERLINE = /^ {0,3}(?:=+|-{2,})[ \t]*$/;
const FENCE = /^ {0,3}(`{3,}|~{3,})/;
const TITLE_CHARACTERS_MAX = 200;
/** A longer line is no title: the pattern takes the square of its length for marks at the end. */
const TITLE_LINE_CHARACTERS_MAX = 400;

/** The blocks of a document in Markdown, or of plain text, whose blocks are its paragraphs. */
export function blocksOf(text: string): Block[] {
  const blocks: Block[] = [];
  /** The block that the next line may belong to. */
  const open = () => {
    const last = isEnded ? undefined : blocks.at(-1);
    return last && last.kind !== "heading" ? last : null;
  };
  let isEnded = true;
  let fence = "";
  const add = (kind: Lines["kind"], line: string) => {
    const block = open();
    if (block?.kind === kind) block.lines.push(line);
    else blocks.push({ kind, lines: [line] });
    isEnded = false;
  };
  const addTitle = (level: number, title: string) => {
    blocks.push({ kind: "heading", level, text: title });
    isEnded = true;
  };
  for (const line of text.split("\n")) {
    const [, mark = ""] = FENCE.exec(line) ?? [];
    const [, level = "", title = ""] = (line.length <= TITLE_LINE_CHARACTERS_MAX && HEADING.exec(line)) || [];
    const above = titleIn(open());
    if (fence !== "") {
      add("code", line);
      if (line.trim().startsWith(fence)) [fence, isEnded] = ["", true];
    } else if (mark !== "") {
      isEnded = true;
      fence = mark;
      add("code", line);
    } else if (line.trim() === "") isEnded = true;
    else if (title !== "" && title.length <= TITLE_CHARACTERS_MAX) addTitle(level.length, title);
    else if (above !== null && UNDERLINE.test(line)) {
      blocks.pop();
      addTitle(line.includes("=") ? 1 : 2, above);
    } else add(line.trimStart().startsWith("|") ? "table" : "paragraph", line);
  }
  return blocks;
}

/** The title that the line below a block would make of it; null if it is none. */
function titleIn(block: Lines | null): string | null {
  const [line = "", ...more] = block?.kind === "paragraph" ? block.lines : [];
  return line !== "" && more.length === 0 && line.length <= TITLE_CHARACTERS_MAX ? line.trim() : null;
}
