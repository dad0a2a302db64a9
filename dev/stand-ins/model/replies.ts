import { lastUserText, type Message } from "./ask.ts";
import { factFor } from "./facts.ts";
import { markedIn } from "./marked.ts";
import { spokenResult } from "./tool-call.ts";

interface Rule {
  /** Matched against the last user message. */
  heard: RegExp;
  /** Chosen in rotation by the number of user messages; `$1` is what the pattern captured, in the other person's perspective. */
  replies: readonly string[];
}

const NAME = String.raw`((?:[A-Z]\w*\.? ?){0,2}[A-Z][\w']*(?: \d+)?)`;
const AGENT_NAME = new RegExp(String.raw`\b(?:You are|You're|named|called|Your name is) ${NAME}`);
const USER_NAME = /\b(?:my name is|call me) (\p{L}+)/iu;
const GOODBYE =
  /^(?:(?:ok|okay|alright|no|thanks?|thank you)\W+)*(?:good-?bye|bye|that(?:'s| is| will be) all)\b(?! (?:he|she|it|they|you|we|i) )/i;
const FAREWELL = "Goodbye, and thank you for the conversation.";
const REPEAT = /\b(?:repeat that|say that again|pardon)\b/i;

const TAKEN_OVER = "You have taken over the conversation";
const WHO = /\b(?:who are you|what(?:'s| is) your name)\b/i;
const WITHOUT_NAME = "I stand in for a language model until you configure one. How can I help?";

/** The first rule that matches wins. */
const RULES: readonly Rule[] = [
  {
    heard: WHO,
    replies: ["I am $agent. What brings you here today?", "My name is $agent. How can I help?"],
  },
  { heard: USER_NAME, replies: ["Pleased to meet you, $1. What can I do for you?"] },
  {
    heard: /\b(?:help|problem|trouble|issue)\b.*\b(my \w+)/i,
    replies: ["Gladly. What is the first thing to know about $1?"],
  },
  { heard: /\b(?:want|need|would like|have) to (.+?)[.!?]?\s*$/i, replies: ["What is the first step to $1?"] },
  {
    heard: /\b(?:want|need|would like|book|order) (.+?)[.!?]?\s*$/i,
    replies: ["About $1: for which day, and what time?"],
  },
  { heard: /\b(?:thanks|thank you)\b/i, replies: ["You are welcome. Is there anything else?"] },
  { heard: /^\W*(?:hello|hi|hey|good (?:morning|afternoon|evening))\b/i, replies: ["Hello. What can I do for you?"] },
  { heard: /\?\s*$/, replies: ["I do not know that yet. What would a good answer tell you?"] },
];
const OTHERWISE = ["Tell me more about that.", "I see. What happened then?"];

const OTHER_SIDE: Readonly<Record<string, string>> = { my: "your", me: "you", i: "you", your: "my", you: "me" };
const CAUGHT_CHARACTERS_MAX = 80;
const TOLD_CHARACTERS_MAX = 300;

/** A deterministic reply to a conversation, so that neither a first chat nor a test needs a model. */
export function reply(messages: readonly Message[]): string {
  const said = lastUserText(messages)?.slice(0, 1_000);
  if (said === undefined) return "Hello. What can I do for you?";
  if (isGoodbye(said)) return FAREWELL;
  const result = messages.at(-1)?.role === "tool" ? messages.at(-1)?.text : undefined;
  // After a handoff, the user's message is still to be answered.
  if (result && !result.startsWith(TAKEN_OVER)) {
    // Of what a search found, only what answers the question.
    const found = markedIn(result).some((text) => text.startsWith("[")) ? factFor(said, [], markedIn(result)) : null;
    return shortened(found ?? spokenResult(result));
  }
  if (REPEAT.test(said))
    return messages.findLast(({ role }) => role === "assistant")?.text || "I have not said anything yet.";
  // A note in the user's name, such as the one before a greeting, is in parentheses.
  const fact = WHO.test(said) ? null : factFor(said, promptsOf(messages), documentsFor(messages));
  if (fact !== null) return shortened(fact);
  const turn = messages.filter(({ role, text }) => role === "user" && !text.startsWith("(")).length - 1;
  const rule = RULES.find(({ heard }) => heard.test(said));
  const replies = rule?.replies ?? OTHERWISE;
  const text = replies[Math.max(0, turn) % replies.length] ?? FAREWELL;
  const agent = agentName(messages);
  if (text.includes("$agent")) return agent ? text.replace("$agent", agent) : WITHOUT_NAME;
  return text.replace("$1", seenFromHere(rule?.heard.exec(said)?.[1] ?? ""));
}

function shortened(text: string): string {
  return text.length <= TOLD_CHARACTERS_MAX ? text : `${text.slice(0, TOLD_CHARACTERS_MAX).trimEnd()}…`;
}

/** Whether the user says goodbye, which makes the stand-in call `end_call`. */
export function isGoodbye(said: string): boolean {
  return GOODBYE.test(said.replaceAll("’", "'").trim());
}

/** The name that the system prompt gives the agent, as in "You are Ada, …". */
function agentName(messages: readonly Message[]): string | null {
  return (
    promptsOf(messages)
      .map((text) => AGENT_NAME.exec(text)?.[1])
      .find((name) => name !== undefined) ?? null
  );
}

function promptsOf(messages: readonly Message[]): string[] {
  return messages.filter(({ role }) => role === "system").map(({ text }) => text);
}

/** What the prompt has of documents, and what was found for the user's last message. */
function documentsFor(messages: readonly Message[]): string[] {
  const last = messages.findLast(({ role }) => role === "user");
  return messages
    .filter((message) => message.role === "system" || message === last)
    .flatMap(({ documents = [] }) => documents);
}

function seenFromHere(caught: string): string {
  const words = caught.slice(0, CAUGHT_CHARACTERS_MAX).split(/\b/);
  return words.map((word) => OTHER_SIDE[word.toLowerCase()] ?? word).join("");
}
