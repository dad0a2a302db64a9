import type { Message } from "./ask.ts";

const WORD = "[\\p{L}\\p{M}\\p{N}]";
const CAPITALISED = `\\p{Lu}${WORD}*(?:[-'’]\\p{Lu}${WORD}*)*`;
const NAME = `((?:(?:Dr|Mr|Mrs|Ms)\\.? )?${CAPITALISED}(?: (?:${CAPITALISED}|\\p{N}+)){0,2})(?!${WORD}|['’]s)`;
const ANY_CASE_NAME = `(\\p{L}${WORD}*(?:[-'’]${WORD}+)*(?: \\p{Lu}${WORD}*){0,2})(?!${WORD})`;
const PERSON = "(?:[Uu]ser|[Cc]ustomer|[Cc]aller|[Cc]lient|[Gg]uest|[Pp]atient|[Pp]erson)";

const AGENT_TOLD = [
  `\\b[Yy]ou(?: are|['’]re) (?:called |named )?["“*]*${NAME}`,
  `\\b[Yy]ou(?: are|['’]re) [^.!?\\n]{0,80}?\\b(?:called|named) ["“*]*${NAME}`,
  `\\b[Yy]our name is ["“*]*${ANY_CASE_NAME}`,
];
const USER_TOLD_BY_PROMPT = [
  `\\b${PERSON}(?:['’]s)?(?: [Nn]ame)?(?: is(?: called| named)?|:) ["“*]*${NAME}`,
  `\\b(?:talking|speaking|chatting) (?:to|with) ["“*]*${NAME}`,
];
const USER_TOLD_BY_USER = [
  `\\b[Mm]y name(?: is|['’]s) ${ANY_CASE_NAME}`,
  `\\b[Cc]all me ${NAME}`,
  `\\b[Tt]his is ${ANY_CASE_NAME} (?:speaking|here|calling)\\b`,
];
const NOT_NAMES = new Set(
  "a an the ai now not always never only to in on our your my his her no it that what so very unknown none".split(" "),
);

/** The name that the system prompt gives the agent, as in "You are Ada, …", or null. */
export function agentName(messages: readonly Message[]): string | null {
  return lastName(messages, "system", AGENT_TOLD);
}

/** The user's name, as the user last gave it, else as the system prompt tells it, else null. */
export function userName(messages: readonly Message[]): string | null {
  return lastName(messages, "user", USER_TOLD_BY_USER) ?? lastName(messages, "system", USER_TOLD_BY_PROMPT);
}

function lastName(messages: readonly Message[], role: Message["role"], told: string[]): string | null {
  const texts = messages
    .filter((message) => message.role === role)
    .map((message) => message.text.replace(/[ \t]+/g, " "));
  for (const text of texts.reverse()) {
    for (const pattern of told) {
      const names = [...text.matchAll(new RegExp(pattern, "gu"))].flatMap(([, name]) =>
        name && isName(name) ? [name] : [],
      );
      const name = names.at(-1);
      if (name) return name.charAt(0).toUpperCase() + name.slice(1);
    }
  }
  return null;
}

function isName(name: string): boolean {
  return !NOT_NAMES.has(name.toLowerCase().split(" ", 1)[0] ?? "");
}
