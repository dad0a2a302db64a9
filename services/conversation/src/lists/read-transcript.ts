import type { Room } from "@parley/shared/db/bounded-page";
import type { Sql } from "@parley/shared/db/database";
import { codePoints } from "@parley/shared/text/length";
import { listTranscript, type MessageRow, TRANSCRIPT_BYTES_MAX } from "../store/messages.ts";
import type { SessionKey } from "../store/session-key.ts";
import { listToolCalls, TOOL_CALLS_BYTES_MAX, type ToolCallsRow } from "../store/turns/tool-calls.ts";
import type { KeptToolCall } from "../turn/reply/kept-tool-calls.ts";

/** Limit for one conversation: its transcript, its tool calls, and 1 MiB each of metadata and variables. */
export const CONVERSATION_BYTES_MAX = TRANSCRIPT_BYTES_MAX + TOOL_CALLS_BYTES_MAX + 2 * 1024 * 1024;

/** The newest messages of a conversation, oldest first, and, if requested, the tool calls of the agent's models. @throws NeedsRoom */
export async function readTranscript(
  sql: Sql,
  conversation: SessionKey & { messageCount: number },
  withToolCalls: boolean,
  room: Room,
): Promise<MessageRow[]> {
  const messages = await listTranscript(sql, conversation, room);
  // Up to 1 MiB, which would be read again with a transcript that needs more room.
  const called = withToolCalls ? await listToolCalls(sql, conversation) : [];
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
