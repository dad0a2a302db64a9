import { parseObject } from "@parley/shared/json/json-object";
import { withoutFillers } from "../../calls/fillers.ts";
import { outsideText } from "../../model/outside-text.ts";
import type { AnsweredToolCall, ModelMessage } from "../../model/port.ts";
import type { SaidAt } from "../../store/messages.ts";
import type { EarlierToolCall } from "../../store/turns/tool-ledger.ts";
import { RUNNING } from "../../tools/turn-tools.ts";

/**
 * The messages of a conversation with its tool calls where they were made, each with its result, as models are told of them. A call
 * whose model was told that it runs has its result later, as a message. Calls of a reply that never came stand where it would have
 * come.
 * @param messages in order, without gaps; older ones may be left out, and their calls are then left out too
 * @param calls in order
 */
export function withCalls(messages: readonly SaidAt[], calls: readonly EarlierToolCall[]): ModelMessage[] {
  const first = messages[0]?.seq ?? 1;
  const last = messages.at(-1)?.seq ?? 0;
  const bySeq = Map.groupBy(
    calls.filter(({ seq }) => seq >= first),
    ({ seq }) => Math.min(seq, last + 1),
  );
  const told = Map.groupBy(
    calls.filter(({ toldSeq }) => toldSeq !== null && toldSeq >= first),
    ({ toldSeq }) => Math.min(toldSeq ?? 0, last + 1),
  );
  const all: ModelMessage[] = [];
  for (const { seq, role, content, fillers } of [...messages, { ...SILENT, seq: last + 1 }]) {
    for (const call of told.get(seq) ?? []) all.push({ role: "user", content: toldLater(call) });
    all.push(...saidWithCalls(role === "assistant" ? withoutFillers(content, fillers) : "", bySeq.get(seq) ?? []));
    if (role === "user") all.push({ role, content });
  }
  return all;
}

/** The reply that is to come. */
const SILENT = { role: "assistant" as const, content: "", fillers: null };

/** What a reply says between its calls; nothing for an empty one without calls. */
function saidWithCalls(content: string, calls: readonly EarlierToolCall[]): ModelMessage[] {
  if (calls.length === 0) return content === "" ? [] : [{ role: "assistant", content }];
  const characters = Array.from(content);
  const said: ModelMessage[] = [];
  let from = 0;
  for (const round of rounds(calls)) {
    const to = Math.max(from, round[0]?.place ?? 0);
    const before = characters.slice(from, to).join("").trim();
    said.push({ role: "assistant", content: before, toolCalls: round.map(answered) });
    from = to;
  }
  const rest = characters.slice(from).join("").trim();
  return rest === "" ? said : [...said, { role: "assistant", content: rest }];
}

/** Calls that one answer of a model made stand together. */
function rounds(calls: readonly EarlierToolCall[]): EarlierToolCall[][] {
  const all: EarlierToolCall[][] = [];
  for (const call of calls) {
    const last = all.at(-1);
    if (last?.[0]?.round === call.round) last.push(call);
    else all.push([call]);
  }
  return all;
}

function answered(call: EarlierToolCall): AnsweredToolCall {
  const { name, arguments: json, state, result, isOutside, isBackground } = call;
  const input = parseObject(json);
  if (isBackground || call.isLive) return { name, input, result: RUNNING, isError: false };
  return { name, input, result, isError: state !== "SUCCEEDED", isOutside };
}

function toldLater({ name, result, isOutside }: EarlierToolCall): string {
  return `The tool ${name}, which you called before, has this result now:\n${isOutside ? outsideText(result) : result}`;
}
