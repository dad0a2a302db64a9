import type { Sql } from "@parley/shared/db/database";
import { codePoints } from "@parley/shared/text/length";
import { listTranscript, type MessageRow } from "../store/messages.ts";
import type { SessionKey } from "../store/session-key.ts";
import type { KeptToolCall } from "../store/turns/kept-tool-calls.ts";
import { listToolCalls, type ToolCallsRow } from "../store/turns/tool-calls.ts";

/** The newest messages of a conversation, oldest first, and, if requested, the tool calls of the agent's models. */
export async function readTranscript(
  sql: Sql,
  conversation: SessionKey,
  withToolCalls: boolean,
): Promise<MessageRow[]> {
  const [messages, called] = await Promise.all([
    listTranscript(sql, conversation),
    withToolCalls ? listToolCalls(sql, conversation) : [],
  ]);
  return called.length === 0 ? messages : withCalls(messages, called);
}

/** The messages with the calls that were made for them. */
function withCalls(messages: readonly MessageRow[], called: readonly ToolCallsRow[]): MessageRow[] {
  const shown = messages.map((message) => ({ ...message, toolCalls: [] as KeptToolCall[] }));
  const first = shown[0]?.seq ?? 1;
  for (const { seq, calls } of called) {
    const reply = shown[seq - first];
    if (reply?.role === "assistant") {
      // Less of a spoken reply may have been heard.
      const length = codePoints(reply.content);
      reply.toolCalls.push(...calls.map((call) => ({ ...call, offset: Math.min(call.offset, length) })));
      continue;
    }
    // The agent then said nothing: the next to speak was the user, or nobody.
    const last = seq === 1 ? reply : shown[Math.min(seq - first, shown.length) - 1];
    const offset = last ? codePoints(last.content) : 0;
    last?.toolCalls.push(...calls.map((call) => ({ ...call, offset })));
  }
  return shown;
}
