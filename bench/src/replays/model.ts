import { type Answer, answer } from "@parley/dev/stand-ins/model/answer.ts";
import { type Ask, lastUserText } from "@parley/dev/stand-ins/model/ask.ts";
import { startModel } from "@parley/dev/stand-ins/model/server.ts";
import { type ToolCall, toolCallFor } from "@parley/dev/stand-ins/model/tool-call.ts";
import { RULE_LOOK_UP, TOPICS } from "./shop.ts";

/** A model that follows its prompt, the same in other words, and one that answers worse: it calls no tool of the shop, and guesses. */
export const GOOD_MODEL = "careful";
export const WORDY_MODEL = "wordy";
export const WORSE_MODEL = "careless";

/**
 * Serves a deterministic model: the stand-in, which works with the prompt's facts, the tools' definitions and their results, and which here
 * also follows a rule of the prompt, analyzes a conversation by its words, and judges replays.
 */
export function startShopModel(): { url: string; stop(): Promise<void> } {
  return startModel({ answers });
}

function answers(ask: Ask): Answer {
  const { format, messages } = ask;
  if (format.kind === "schema") {
    const said = lastUserText(messages) ?? "";
    const given = said.startsWith("Before (text from outside): ") ? verdictOn(said) : analysisOf(said, format.schema);
    return { kind: "text", text: JSON.stringify(given) };
  }
  if (ask.model === WORSE_MODEL) return careless(ask);
  const answered = careful(ask);
  return ask.model === WORDY_MODEL ? inOtherWords(answered) : answered;
}

function careful(ask: Ask): Answer {
  const call = refundCall(ask);
  return call ? { kind: "call", name: call.name, arguments: JSON.stringify(call.input) } : answer(ask);
}

/** What a judge finds to be the same. */
const FILLER = "Of course. ";
const FAREWELL = /^goodbye\b.*/s;

function inOtherWords(answered: Answer): Answer {
  if (answered.kind === "text") return { ...answered, text: FILLER + answered.text };
  if (answered.name !== "end_call") return answered;
  return { ...answered, arguments: JSON.stringify({ message: "Goodbye, take care!" }) };
}

function careless(ask: Ask): Answer {
  const said = lastUserText(ask.messages) ?? "";
  if (/order|repair/.test(said)) return { kind: "text", text: "That should be fine by tomorrow." };
  return answer(ask);
}

/** A refund is several calls if the prompt has the rule; the stand-in itself calls one tool for a message. */
function refundCall({ messages, tools, toolsAnswered }: Ask): ToolCall | null {
  const last = messages.findLastIndex(({ role }) => role === "user");
  if (!/refund/i.test(messages[last]?.text ?? "")) return null;
  const isRule = messages.some(({ role, text }) => role === "system" && text.includes(RULE_LOOK_UP));
  const steps = isRule ? ["look_up_order", "refund_order"] : ["refund_order"];
  const next = tools.find(({ name }) => name === steps.find((step) => !toolsAnswered.includes(step)));
  if (!next) return null;
  // In the user's words the tool is not always named, but its arguments are.
  const named = { ...next, name: "refund", description: "" };
  const call = toolCallFor({ messages: messages.slice(0, last + 1), tools: [named] });
  return call && typeof call !== "string" ? { ...call, name: next.name } : null;
}

/** A judge that compares the replies word for word but for fillers and farewells, which is stricter than a real one. */
function verdictOn(message: string): { verdict: string; reason: string } {
  const [before = [], after = []] = [...message.matchAll(/^(?:Before|After) \(text from outside\): (.*)$/gm)].map(
    ([, json = "{}"]) => repliesIn(json),
  );
  const at = Array.from({ length: Math.max(before.length, after.length) }, (_, place) => place).find(
    (place) => before[place] !== after[place],
  );
  if (at === undefined) return { verdict: "yes", reason: "The replies are the same." };
  return { verdict: "no", reason: `"${before[at] ?? ""}" became "${after[at] ?? ""}"` };
}

function repliesIn(json: string): string[] {
  const { greeting = "", turns = [] } = JSON.parse(json) as { greeting?: string; turns?: { agent: string }[] };
  return [greeting, ...turns.map(({ agent }) => agent)].map((reply) =>
    reply
      .replaceAll(FILLER, "")
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}]+/gu, " ")
      .replace(FAREWELL, "goodbye"),
  );
}

/** Reads a transcript of `role: text` lines. A topic that the schema does not have is "other". */
function analysisOf(record: string, schema: unknown): Record<string, unknown> {
  const lines = record.split("\n");
  const users = lines.filter((line) => /^user: /i.test(line)).join("\n");
  const agents = lines.filter((line) => /^(?:assistant|agent): /i.test(line)).join("\n");
  const found = TOPICS.findLast((topic) => users.toLowerCase().includes(topic)) ?? "question";
  const topics = JSON.stringify(schema);
  return {
    topic: topics.includes(`"${found}"`) ? found : "other",
    helped: !/First tell me|do not know|Tell me more|no result|should be fine/.test(agents),
    order_id: /A-\d+/.exec(users)?.[0] ?? null,
  };
}
