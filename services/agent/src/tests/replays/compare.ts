import { isDeepStrictEqual } from "node:util";
import { isObject } from "@parley/shared/json/json-object";
import type { FinishedConversation } from "../assertions/finished.ts";

/** What differs between a stored conversation and its replay. */
export interface Difference {
  what: "tools" | "outcome" | "analysis" | "reply";
  /** Of the analysis. */
  field?: string;
  before?: unknown;
  after?: unknown;
  reason?: string;
}

/** Arguments of built-in tools that are the model's own words, as replies are. */
const WORDS: ReadonlyMap<string, string> = new Map([
  ["end_call", "message"],
  ["transfer_call", "message"],
  ["schedule_call", "reason"],
  ["search_knowledge", "query"],
]);

/** What differs but the replies, whose words never are the same (judge.ts). */
export function compareConversations(before: FinishedConversation, after: FinishedConversation): Difference[] {
  const tools = differing("tools", before, after, toolsOf);
  const outcome = differing("outcome", before, after, outcomeOf);
  return [...tools, ...outcome, ...analysisDifferences(before.analysis, after.analysis)];
}

/** A conversation that was not analyzed, such as one that has not ended, has nothing to compare. */
function analysisDifferences(
  before: FinishedConversation["analysis"],
  after: FinishedConversation["analysis"],
): Difference[] {
  if (Object.keys(before).length === 0) return [];
  return [...new Set([...Object.keys(before), ...Object.keys(after)])]
    .map((field): Difference => {
      return { what: "analysis", field, before: before[field] ?? null, after: after[field] ?? null };
    })
    .filter(({ before: was, after: is }) => !isDeepStrictEqual(was, is));
}

/**
 * Whether a knowledge base that both were answered from had other documents. That is no difference of the agent, but it may explain one.
 */
export function haveDocumentsChanged(before: FinishedConversation, after: FinishedConversation): boolean {
  const had = Map.groupBy(before.documentSets, ({ knowledgeBaseId }) => knowledgeBaseId);
  return after.documentSets.some(({ knowledgeBaseId, documentsHash }) =>
    had.get(knowledgeBaseId)?.some((set) => set.documentsHash !== documentsHash),
  );
}

/** A chat that began with the user's message had no greeting, while a replay begins with one. */
export function withGreetingOf(before: FinishedConversation, after: FinishedConversation): FinishedConversation {
  return before.greeting === "" ? { ...after, greeting: "" } : after;
}

function differing(
  what: Difference["what"],
  before: FinishedConversation,
  after: FinishedConversation,
  part: (conversation: FinishedConversation) => unknown,
): Difference[] {
  const [was, is] = [part(before), part(after)];
  return isDeepStrictEqual(was, is) ? [] : [{ what, before: was, after: is }];
}

function toolsOf({ turns }: FinishedConversation) {
  return turns.flatMap(({ toolCalls }, at) =>
    toolCalls.map(({ name, arguments: given, isError }) => ({
      turn: at + 1,
      name,
      arguments: withoutWords(name, given),
      is_error: isError,
    })),
  );
}

function withoutWords(tool: string, given: unknown): unknown {
  if (!WORDS.has(tool) || !isObject(given)) return given;
  return Object.fromEntries(Object.entries(given).filter(([name]) => name !== WORDS.get(tool)));
}

/** The replay's user hangs up when nothing is left to say, whoever did so then: only the agent's own ending tells of the agent. */
function outcomeOf({ turns, endedBy }: FinishedConversation) {
  return {
    ended_by_agent: endedBy === "agent",
    turns: turns.length,
    handed_off_to: turns.flatMap(({ handedOffTo }) => handedOffTo),
  };
}
