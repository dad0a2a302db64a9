/** Words that most questions have. */
const COMMON = new Set(
  (
    "a about an and any are at be by can could did do does for from have has how i in is it know like me my of on or our please tell than that the " +
    "their there they this to us want was we were what when which who will with would you your"
  ).split(" "),
);
/** Questions often name something else than the fact does. */
const RELATED = [
  ["open", "hour", "close", "shut"],
  ["where", "address", "location", "find"],
  ["much", "price", "cost", "fee", "charge", "rate"],
  ["phone", "number", "telephone"],
  ["email", "mail", "write"],
].map((group) => group.map(stemOf));
const ASKS =
  /\?\s*$|^\W*(?:(?:and|so|hello|hi|hey|ok|okay)\W+)*(?:what|when|where|which|who|how|is|are|do|does|can|could|tell me|i (?:want|need|would like) to know)\b/i;
/** "Opening hours: Monday to Friday", also at the end of an instruction. */
const LABELED =
  /^(?:answer (?:all )?questions about |tell (?:callers|people|users) about |the )?([^:.!?{}]{2,60}):\s+(\S.*)$/i;
/** What is plainly said about the business, and does not tell the agent what to do. */
const STATED =
  /^(?!(?:you|be|ask|say|never|always|if|when|do|don't|repeat|speak|greet|thank|keep|use|answer)\b).*\b(?:is|are|costs?|opens?|closes?|offers?|takes?|has|have|accepts?)\b/i;

/** The plain fact in prompts and documents that answers a question; null if what was said is none, or no fact has its words. */
export function factFor(said: string, prompts: readonly string[], documents: readonly string[] = []): string | null {
  if (!ASKS.test(said)) return null;
  const wanted = related(stemsOf(said));
  let best = { score: 0, text: "" };
  for (const { text, about } of [...documents.flatMap(linesIn), ...prompts.flatMap(factsIn)]) {
    const score = new Set(stemsOf(about).filter((stem) => wanted.has(stem))).size;
    if (score > best.score) best = { score, text };
  }
  return best.text || null;
}

interface Fact {
  text: string;
  /** The words by which it is found. */
  about: string;
}

function factsIn(prompt: string): Fact[] {
  return prompt.split("\n").flatMap((line): Fact[] => {
    const plain = line.replace(/^\s*(?:[-*•#>]+|\d+[.)])\s*/, "").trim();
    const [, label = "", value = ""] = LABELED.exec(plain) ?? [];
    if (value !== "") return [{ text: sentence(`${label}: ${value}`), about: `${label} ${value}` }];
    const sentences = plain.match(/[^.!?]+(?:[.!?](?=\S)[^.!?]*)*[.!?]*/g) ?? [];
    return sentences
      .map((each) => each.trim())
      .filter((each) => STATED.test(each))
      .map((each) => ({ text: sentence(each), about: each }));
  });
}

/** Before a passage: the document's name, and the titles that it stands below. */
const PLACE = /^\[.*\]$/;
const TABLE_ROW = /^\|(.*)\|$/;
/** Below the row that names a table's columns. */
const BELOW_NAMES = /^\|[\s|:-]+\|$/;

/** A document gives no instructions, so that each of its lines is a fact. A row of a table is its first cell with the others. */
function linesIn(document: string): Fact[] {
  const lines = document.split("\n").map((line) => line.trim());
  return lines.flatMap((line, at): Fact[] => {
    if (PLACE.test(line) || BELOW_NAMES.test(lines[at + 1] ?? "")) return [];
    const plain = line.replace(/^(?:[-*•#>]+|\d+[.)])\s*/, "");
    const [first = "", ...others] = (TABLE_ROW.exec(plain)?.[1] ?? plain).split("|").map((cell) => cell.trim());
    const text = others.length > 0 ? `${first}: ${others.join(", ")}` : first;
    return /\p{L}/u.test(first) ? [{ text: sentence(text), about: text }] : [];
  });
}

function sentence(text: string): string {
  const begun = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(begun) ? begun : `${begun}.`;
}

function related(stems: readonly string[]): Set<string> {
  const groups = RELATED.filter((group) => group.some((word) => stems.includes(word)));
  return new Set([...stems, ...groups.flat()]);
}

/** The words that say something, without endings, so that "opening" is "open" and "prices" is "price". */
export function stemsOf(text: string): string[] {
  const words = text.toLowerCase().match(/\p{L}+/gu) ?? [];
  return words.filter((word) => !COMMON.has(word)).map(stemOf);
}

function stemOf(word: string): string {
  return word.replace(/(?<=\p{L}{3})(?:ing|ed|es|ion|e|s)$/u, "");
}
