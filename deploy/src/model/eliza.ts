import type { Message } from "./ask.ts";
import { isGoodbye } from "./goodbye.ts";
import { agentName, userName } from "./names.ts";
import { reflect } from "./reflection.ts";
import { FAREWELL, OPENING, RECALL, type Readings, RULES, UNHEARD } from "./rules.ts";
import { EXPANSIONS, FAMILIES } from "./vocabulary.ts";

/** What a template may fill in; null is not known, and no template that needs it is used. */
type Known = { agent: string | null; user: string | null; previous: string | null };

const HEARD_CHARACTERS_MAX = 1_000;
const ECHO_WORDS_MAX = 14;
const BY_RANK = RULES.toSorted((a, b) => b.rank - a.rank);

/**
 * The stand-in's reply: keyword, decomposition, reassembly, after Weizenbaum's ELIZA (1966).
 * The same conversation always gets the same reply; templates take turns by the number of user messages.
 */
export function reply(messages: readonly Message[]): string {
  const saids = messages.filter((message) => message.role === "user").map((message) => message.text);
  const known: Known = {
    agent: agentName(messages),
    user: userName(messages),
    previous: messages.findLast((message) => message.role === "assistant" && message.text)?.text ?? null,
  };
  const turn = Math.max(saids.length - 1, 0);
  const said = saids.at(-1);
  if (said === undefined) return speak(OPENING, "", known, turn) ?? "";
  if (isGoodbye(said, known.agent)) return speak(FAREWELL, "", known, turn) ?? "";

  const clauses = clausesOf(said);
  for (const { keywords, readings } of BY_RANK) {
    for (const clause of clauses.filter((clause) => keywords.some((keyword) => hears(clause, keyword)))) {
      const spoken = speak(readings, clause, known, turn);
      if (spoken) return spoken;
    }
  }
  return recall(saids.slice(0, -1), known, turn) ?? speak(UNHEARD, "", known, turn) ?? "";
}

/** Every second time that nothing is heard, something the user said of their own earlier comes back. */
function recall(earlier: string[], known: Known, turn: number): string | null {
  if (turn % 2 === 0) return null;
  const remembered = earlier.flatMap(clausesOf).filter((clause) => hears(clause, "my") && !hears(clause, "my name"));
  const clause = remembered[turn % Math.max(remembered.length, 1)];
  return clause ? speak(RECALL, clause, known, turn) : null;
}

function clausesOf(said: string): string[] {
  const straight = said.slice(0, HEARD_CHARACTERS_MAX).toWellFormed().replaceAll("’", "'");
  return straight
    .split(/[.,;:!?]+(?=\s|$)|\n+|["“”()]+|\s[-–—]+\s|\bbut\b/i)
    .map((clause) => expand(clause.replace(/\s+/g, " ").trim()))
    .filter(Boolean);
}

function expand(clause: string): string {
  return clause.replace(/[\p{L}']+/gu, (word) => EXPANSIONS[word.toLowerCase()] ?? word);
}

function hears(clause: string, keyword: string): boolean {
  return ` ${clause.toLowerCase()} `.includes(` ${keyword} `);
}

function speak(readings: Readings, clause: string, known: Known, turn: number): string | null {
  for (const [pattern, templates] of Object.entries(readings)) {
    const parts = decompose(pattern, clause);
    const usable = parts ? mostKnowing(templates.filter((template) => isComplete(template, parts, known))) : [];
    const template = usable[turn % usable.length];
    if (parts && template) return reassemble(template, parts, known);
  }
  return null;
}

const COMPILED = new Map<string, RegExp>();

/** What each `*` and `+` of the pattern stands for in the clause, or null when it does not fit. */
function decompose(pattern: string, clause: string): string[] | null {
  const compiled = COMPILED.get(pattern) ?? compile(pattern);
  COMPILED.set(pattern, compiled);
  const match = ` ${clause}`.match(compiled);
  return match ? match.slice(1).map((part) => part.trim()) : null;
}

function compile(pattern: string): RegExp {
  const tokens = pattern.split(" ").map((token) => {
    if (token === "*") return "((?: \\S+)*?)";
    if (token === "+") return "( \\S+)";
    return token.startsWith("@") ? ` (?:${FAMILIES[token.slice(1)]?.join("|")})` : ` ${token}`;
  });
  return new RegExp(`^${tokens.join("")} ?$`, "iu");
}

const GAPS = /\$(\d)|\{(agent|user|previous)\}/g;

function isComplete(template: string, parts: string[], known: Known): boolean {
  return [...template.matchAll(GAPS)].every(([gap]) => fill(gap, parts, known) !== "");
}

function mostKnowing(templates: string[]): string[] {
  const known = templates.map((template) => template.match(/\{/g)?.length ?? 0);
  return templates.filter((_, index) => known[index] === Math.max(...known));
}

function reassemble(template: string, parts: string[], known: Known): string {
  return template.replace(GAPS, (gap) => fill(gap, parts, known));
}

function fill(gap: string, parts: string[], known: Known): string {
  if (gap.startsWith("$")) return reflect(clip(parts[Number(gap.slice(1)) - 1] ?? ""));
  return known[gap.slice(1, -1) as keyof Known] ?? "";
}

function clip(part: string): string {
  const heard = part.split(" ");
  return heard.length > ECHO_WORDS_MAX ? `${heard.slice(0, ECHO_WORDS_MAX).join(" ")}…` : part;
}
