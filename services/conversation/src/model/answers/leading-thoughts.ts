/** How models mark what they think before they answer, if their server leaves it in the text. */
interface Mark {
  /** In lower case. */
  open: string;
  close: RegExp;
}

const MARKS: readonly Mark[] = [
  { open: "<think>", close: /<\/think>/i },
  { open: "<thinking>", close: /<\/thinking>/i },
  { open: "<thought>", close: /<\/thought>/i },
  { open: "<reasoning>", close: /<\/reasoning>/i },
  { open: "<seed:think>", close: /<\/seed:think>/i },
  { open: "[think]", close: /\[\/think\]/i },
  { open: "◁think▷", close: /◁\/think▷/ },
  { open: "<|begin_of_thought|>", close: /<\|end_of_thought\|>/ },
  { open: "<|channel|>analysis<|message|>", close: /<\|start\|>assistant<\|channel\|>final<\|message\|>/ },
];
/** The longest closing mark has fewer characters. */
const CLOSING_MAX = 64;
const OPENING_MAX = Math.max(...MARKS.map(({ open }) => open.length));
/** White space that is kept at the beginning of a reply. */
const BLANK_MAX = 256;

/** Takes a text in pieces and leaves out the thoughts that it begins with. */
interface ThoughtFilter {
  /** @returns what of the text is known to be the reply */
  push(piece: string): string;
  /** @returns the rest of the reply */
  end(): string;
}

export function withoutLeadingThoughts(): ThoughtFilter {
  /** What could be a mark or its beginning. */
  let held = "";
  /** The mark that ends the thoughts in progress. */
  let closing: Mark | null = null;
  let hasThought = false;
  let isReply = false;

  function readThoughts(mark: Mark): string {
    const end = mark.close.exec(held);
    if (!end) {
      held = held.slice(-CLOSING_MAX);
      return "";
    }
    held = held.slice(end.index + end[0].length);
    closing = null;
    hasThought = true;
    return readBeginning();
  }

  function readBeginning(): string {
    const text = held.trimStart();
    const begins = text.slice(0, OPENING_MAX).toLowerCase();
    const mark = MARKS.find(({ open }) => begins.startsWith(open));
    if (mark) {
      closing = mark;
      held = text.slice(mark.open.length);
      return readThoughts(mark);
    }
    if (text === "") held = held.slice(0, BLANK_MAX);
    return MARKS.some(({ open }) => open.startsWith(begins)) ? "" : reply();
  }

  function reply(): string {
    isReply = true;
    const text = hasThought ? held.trimStart() : held;
    held = "";
    return text;
  }

  return {
    push(piece) {
      if (isReply || piece === "") return piece;
      held += piece;
      return closing === null ? readBeginning() : readThoughts(closing);
    },
    end() {
      const isBlank = closing !== null || held.trim() === "";
      if (isBlank) held = "";
      return reply();
    },
  };
}

/** The reply in a whole text whose opening mark was part of the prompt, as with some templates, and so is not in it. */
export function withoutUnopenedThoughts(text: string): string {
  for (const { open, close } of MARKS) {
    const end = close.exec(text);
    if (end && !text.slice(0, end.index).toLowerCase().includes(open))
      return text.slice(end.index + end[0].length).trimStart();
  }
  return text;
}
