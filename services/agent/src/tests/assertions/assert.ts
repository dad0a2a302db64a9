import type { Assertion, AssertionResult } from "@parley/shared/domain/tests";
import { matcher } from "./expression.ts";
import type { CalledTool, FinishedConversation, FinishedTurn } from "./finished.ts";
import { hasPart } from "./partial.ts";

/** Whether it holds, and why. */
interface Verdict {
  passed: boolean;
  /** For the person who has to act on a failure: what was expected and what was there. */
  reason: string;
}

/** Returns the language of a text as two letters (ISO 639-1), "" if the text does not tell. */
type DetectLanguage = (text: string) => string;

/** Checks everything but the criteria of judges, whom only a model can play (judge.ts). */
export function assertOn(
  assertion: Assertion,
  conversation: FinishedConversation,
  detect: DetectLanguage,
): AssertionResult {
  const { type, turn } = assertion;
  return { type, ...(turn != null && { turn }), ...verdictOf(assertion, conversation, detect) };
}

function verdictOf(assertion: Assertion, conversation: FinishedConversation, detect: DetectLanguage): Verdict {
  const { turn } = assertion;
  const turns = turn == null ? conversation.turns : conversation.turns.slice(turn - 1, turn);
  if (turn != null && turns.length === 0)
    return failed(`There is no turn ${turn}: the conversation had ${counted(conversation.turns.length, "turn")}`);
  const said = turns.map(({ agent }) => agent);
  if (turn == null && conversation.greeting !== "") said.unshift(conversation.greeting);
  const [value, tool, document] = [assertion.value ?? "", assertion.tool ?? "", assertion.document ?? ""];
  switch (assertion.type) {
    case "equals":
      return some(said, (text) => text.trim() === value.trim(), `is exactly ${quoted(value)}`);
    case "contains":
      return some(said, (text) => includes(text, value), `contains ${quoted(value)}`);
    case "not_contains":
      return none(said, (text) => includes(text, value), `contains ${quoted(value)}`);
    case "matches":
      return matches(said, value);
    case "tool_called":
      return toolCalled(turns, tool, assertion.arguments ?? null);
    case "tool_not_called":
      return toolNotCalled(turns, tool);
    case "handed_off_to":
      return handedOffTo(turns, assertion.agent_id ?? "");
    case "ended_by": {
      const { endedBy } = conversation;
      const what = `The ${endedBy} ended the conversation`;
      return endedBy === value ? passed(what) : failed(`${what}, not the ${value}`);
    }
    case "language":
      return language(said, detect(said.join("\n")), conversation.language, value);
    case "latency_ms":
      return latency(turns, assertion.max ?? 0);
    case "source_used":
      return sourceUsed(turns, document);
    case "analysis":
      return analysis(conversation.analysis, assertion.field ?? "", assertion.equals);
    case "judge":
      throw new Error("a judge's criterion is not for here");
  }
}

function passed(reason: string): Verdict {
  return { passed: true, reason };
}

function failed(reason: string): Verdict {
  return { passed: false, reason };
}

function some(said: readonly string[], holds: (text: string) => boolean, what: string): Verdict {
  const found = said.find(holds);
  return found === undefined ? failed(`No reply ${what}: ${listed(said)}`) : passed(`${quoted(found)} ${what}`);
}

function none(said: readonly string[], holds: (text: string) => boolean, what: string): Verdict {
  const found = said.find(holds);
  return found === undefined ? passed(`No reply ${what}`) : failed(`${quoted(found)} ${what}`);
}

/** Models and recognizers write capital letters as they like. */
function includes(text: string, part: string): boolean {
  return text.toLowerCase().includes(part.toLowerCase());
}

function matches(said: readonly string[], expression: string): Verdict {
  const holds = matcher(expression, said);
  if (holds) return some(said, holds, `matches ${expression}`);
  return failed("The replies are too long to be searched with such a complex expression: repeat less in braces");
}

function toolCalled(turns: readonly FinishedTurn[], tool: string, wanted: Record<string, unknown> | null): Verdict {
  const calls = callsOf(turns, tool);
  if (calls.length === 0) return failed(`${tool} was not called${othersCalled(turns)}`);
  if (!wanted) return passed(`${tool} was called with ${shown(calls[0]?.arguments)}`);
  const found = calls.find((call) => hasPart(call.arguments, wanted));
  if (found) return passed(`${tool} was called with ${shown(found.arguments)}`);
  return failed(
    `${tool} was called with ${calls.map((call) => shown(call.arguments)).join(" and ")}, not with ${shown(wanted)}`,
  );
}

function toolNotCalled(turns: readonly FinishedTurn[], tool: string): Verdict {
  const [call] = callsOf(turns, tool);
  return call ? failed(`${tool} was called with ${shown(call.arguments)}`) : passed(`${tool} was not called`);
}

function callsOf(turns: readonly FinishedTurn[], tool: string): CalledTool[] {
  return turns.flatMap(({ toolCalls }) => toolCalls).filter(({ name }) => name === tool);
}

function othersCalled(turns: readonly FinishedTurn[]): string {
  const names = new Set(turns.flatMap(({ toolCalls }) => toolCalls.map(({ name }) => name)));
  return names.size === 0 ? ", nor any other tool" : `; called were ${[...names].join(", ")}`;
}

function handedOffTo(turns: readonly FinishedTurn[], agentId: string): Verdict {
  const taken = turns.flatMap((turn) => turn.handedOffTo);
  if (taken.includes(agentId)) return passed(`${agentId} took over`);
  return failed(
    taken.length === 0
      ? `No agent took over; expected was ${agentId}`
      : `${taken.join(", ")} took over, not ${agentId}`,
  );
}

/** @param set what the conversation was set to, which counts if the texts are too short to tell */
function language(said: readonly string[], found: string, set: string | null, wanted: string): Verdict {
  const spoken = found || primaryOf(set ?? "");
  const primary = primaryOf(wanted);
  if (spoken === "") return failed(`What the agent said is too short to tell its language: ${listed(said)}`);
  return spoken === primary
    ? passed(`The agent spoke ${primary}`)
    : failed(`The agent spoke ${spoken}, not ${primary}: ${listed(said)}`);
}

function primaryOf(tag: string): string {
  return tag.split("-", 1)[0]?.toLowerCase() ?? "";
}

function latency(turns: readonly FinishedTurn[], max: number): Verdict {
  const measured = turns.flatMap(({ latencyMs }) => (latencyMs === null ? [] : [latencyMs]));
  if (measured.length === 0) return failed("No reply's latency was measured");
  const slowest = Math.max(...measured);
  return slowest <= max
    ? passed(`The slowest reply took ${slowest} ms, at most ${max} ms`)
    : failed(`The slowest reply took ${slowest} ms, more than ${max} ms`);
}

function sourceUsed(turns: readonly FinishedTurn[], document: string): Verdict {
  const sources = turns.flatMap((turn) => turn.sources);
  if (sources.some(({ documentId, name }) => documentId === document || name === document))
    return passed(`${document} was used`);
  const names = [...new Set(sources.map(({ name }) => name))];
  return failed(
    names.length === 0
      ? `No document was used; expected was ${document}`
      : `${names.join(", ")} was used, not ${document}`,
  );
}

function analysis(values: FinishedConversation["analysis"], field: string, wanted: unknown): Verdict {
  if (!Object.hasOwn(values, field)) return failed(`The analysis has no value for ${field}`);
  const value = values[field];
  return hasPart(value, wanted) && hasPart(wanted, value)
    ? passed(`${field} is ${shown(value)}`)
    : failed(`${field} is ${shown(value)}, not ${shown(wanted)}`);
}

const SHOWN_MAX = 300;

function quoted(text: unknown): string {
  return `"${cut(String(text ?? ""))}"`;
}

function listed(said: readonly string[]): string {
  return said.length === 0 ? "the agent said nothing" : cut(said.map((text) => `"${text}"`).join(", "));
}

function shown(value: unknown): string {
  return cut(JSON.stringify(value ?? null));
}

function cut(text: string): string {
  return text.length <= SHOWN_MAX ? text : `${text.slice(0, SHOWN_MAX)}…`;
}

function counted(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? "" : "s"}`;
}
