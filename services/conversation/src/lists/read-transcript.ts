import type { Sql } from "@parley/shared/db/database";
import { codePoints } from "@parley/shared/text/length";
import { listTranscript, type MessageRow } from "../store/messages.ts";
import type { SessionKey } from "../store/session-key.ts";
import type { ToolCallRow } from "../store/turns/kept-tool-calls.ts";
import { listToolCalls, type StoredToolCall } from "../store/turns/tool-calls.ts";

/** The newest messages of a conversation, oldest first, and, if requested, the tool calls of the agent's models. */
export async function readTranscript(
  sql: Sql,
  conversation: SessionKey,
  withToolCalls: boolean,
  now: Date,
): Promise<MessageRow[]> {
  const [messages, called] = await Promise.all([
    listTranscript(sql, conversation),
    withToolCalls ? listToolCalls(sql, conversation, now) : [],
  ]);
  return called.length === 0 ? messages : withCalls(messages, called);
}

/** The messages with the calls that were made for them. */
function withCalls(messages: readonly MessageRow[], called: readonly StoredToolCall[]): MessageRow[] {
  const shown = messages.map((message) => ({ ...message, toolCalls: [] as ToolCallRow[] }));
  const first = shown[0]?.seq ?? 1;
  const lengths = new Map<MessageRow, number>();
  const lengthOf = (message: MessageRow) => {
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
