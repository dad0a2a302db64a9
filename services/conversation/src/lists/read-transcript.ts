import type { Sql } from "@parley/shared/db/database";
import { codePoints } from "@parley/shared/text/length";
import { listTranscript, type MessageRow } from "../store/messages.ts";
import type { SessionKey } from "../store/session-key.ts";
import type { ToolCallRow } from "../store/turns/kept-tool-calls.ts";
import { listToolCalls, type StoredToolCall } from "../store/turns/tool-calls.ts";

/** What a transcript has of each reply beside its words, if requested. */
interface TranscriptParts {
  /** The tool calls of the agent's models. */
  toolCalls: boolean;
  /** What the models were given of knowledge bases. */
  knowledge: boolean;
}

export const EVERY_PART: TranscriptParts = { toolCalls: true, knowledge: true };

/** The newest messages of a conversation, oldest first. */
export async function readTranscript(
  sql: Sql,
  conversation: SessionKey,
  parts: TranscriptParts,
  now: Date,
): Promise<MessageRow[]> {
  const [messages, called] = await Promise.all([
    listTranscript(sql, conversation, parts.knowledge),
    parts.toolCalls ? listToolCalls(sql, conversation, now) : [],
  ]);
  return (called.length === 0 ? messages : withCalls(messages, called)).flatMap(inParts);
}

/** A reply during which its runtime spoke by itself, as what it said and what the model said, in order. */
export function inParts(message: MessageRow): MessageRow[] {
  const { fillers, toolCalls = [], ...facts } = message;
  if (!fillers || fillers.length === 0) return [message];
  const characters = Array.from(message.content);
  const parts: MessageRow[] = [];
  /** Of the model's words, which the places of calls count. */
  let from = 0;
  let calls = [...toolCalls];
  const add = (text: string, isFiller: boolean) => {
    const length = isFiller ? 0 : text.length;
    const content = text.trim();
    const made = calls.filter(({ place }) => place <= from + length);
    if (content === "") return;
    calls = calls.filter((call) => !made.includes(call));
    const placed = made.map((call) => ({
      ...call,
      place: Math.max(0, Math.min(call.place - from, codePoints(content))),
    }));
    parts.push({ ...facts, content, fillers: null, toolCalls: placed, isFiller });
    from += length;
  };
  let at = 0;
  for (const [begin, end] of fillers) {
    add(characters.slice(at, begin).join(""), false);
    add(characters.slice(begin, end).join(""), true);
    at = end;
  }
  add(characters.slice(at).join(""), false);
  const last = parts.at(-1);
  if (last) last.toolCalls = [...(last.toolCalls ?? []), ...calls];
  const [first] = parts;
  const ofModel = parts.findLast(({ isFiller }) => !isFiller);
  return parts.map((part) => ({
    ...part,
    ...(part !== first && { startedAt: null, latency: null }),
    ...(part !== ofModel && { provider: null, knowledge: null }),
  }));
}

/** The messages with the calls that were made for them. */
export function withCalls<M extends Pick<MessageRow, "seq" | "role" | "content">>(
  messages: readonly M[],
  called: readonly StoredToolCall[],
): (M & { toolCalls: ToolCallRow[] })[] {
  const shown = messages.map((message) => ({ ...message, toolCalls: [] as ToolCallRow[] }));
  const first = shown[0]?.seq ?? 1;
  const lengths = new Map<M, number>();
  const lengthOf = (message: M) => {
    const length = lengths.get(message) ?? codePoints(message.content);
    lengths.set(message, length);
    return length;
  };
  for (const { seq, ...call } of called) {
    const reply = shown[seq - first];
    if (reply?.role === "assistant") {
      // Less of a spoken reply may have been heard.
      reply.toolCalls.push({ ...call, place: Math.min(call.place, lengthOf(reply)) });
      continue;
    }
    // The agent then said nothing: the next to speak was the user, or nobody.
    const last = seq === 1 ? reply : shown[Math.min(seq - first, shown.length) - 1];
    last?.toolCalls.push({ ...call, place: lengthOf(last) });
  }
  return shown;
}
