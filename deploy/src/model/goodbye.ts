const FAREWELLS = [
  "bye|bye bye|goodbye|good bye|farewell|cheerio|ciao",
  "see you|see you soon|see you later|see you tomorrow|see ya|talk to you later|talk to you soon|speak soon",
  "that's all|that is all|that'll be all|that will be all|that was all|nothing else|we're done|we are done|i'm done|i am done",
  "have a good day|have a nice day|have a great day|have a good one|have a good evening|good night",
  "i have to go|i've got to go|i got to go|gotta go|i need to go|i must go|hang up|end the call|you can hang up",
].flatMap((line) => line.split("|"));

const COURTESIES =
  /\b(?:ok|okay|well|alright|all right|great|perfect|cool|fine|lovely|no|nope|yes|yeah|yep|so|then|and|now|please|today|for now|for today|i think|i guess|from me|i need|i needed|i wanted|for (?:your|the|all your) help|very much|so much|thanks(?: a lot)?|thank you|everyone|all)\b/g;

const PARTING = new Set(["bye", "bye bye", "goodbye", "good bye"]);

/** Whether the text clearly ends a conversation: it closes with a farewell, or opens with "bye". A question never does. */
export function isGoodbye(text: string, agentName: string | null = null): boolean {
  if (text.includes("?") || text.length > 300) return false;
  const clauses = clausesOf(text, agentName);
  return FAREWELLS.includes(clauses.at(-1) ?? "") || PARTING.has(clauses[0] ?? "");
}

function clausesOf(text: string, agentName: string | null): string[] {
  const plain = text.toLowerCase().replaceAll("’", "'").replaceAll("-", " ");
  const named = agentName ? plain.replaceAll(agentName.toLowerCase(), " ") : plain;
  return named
    .split(/[.,;:!\n]+/)
    .map(bare)
    .filter(Boolean);
}

/** The clause without its courtesies, unless it is a farewell with them ("that's all"). */
function bare(clause: string): string {
  const spoken = clause
    .replace(/[^\p{L}' ]+/gu, " ")
    .replace(/\s+/g, " ")
    .trim();
  if (FAREWELLS.includes(spoken)) return spoken;
  const farewell = FAREWELLS.findLast((known) => ` ${spoken} `.includes(` ${known} `));
  if (!farewell) return spoken.replace(COURTESIES, " ").replace(/\s+/g, " ").trim();
  const rest = ` ${spoken} `.replace(` ${farewell} `, "  ").replace(COURTESIES, " ").trim();
  return rest === "" ? farewell : spoken;
}
