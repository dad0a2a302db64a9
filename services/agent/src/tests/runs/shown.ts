import type { FinishedConversation } from "../assertions/finished.ts";

const BYTES_MAX = 256 * 1024;
/** Characters that are kept of each text of a conversation that is too long. */
const CUT_AT = 1_000;

/** What was said, as the API shows it. Of a conversation that is too long, only the beginning of each text. */
export function shownTranscript(conversation: FinishedConversation) {
  const whole = shown(conversation, (text) => text);
  if (Buffer.byteLength(JSON.stringify(whole)) <= BYTES_MAX) return whole;
  return shown(conversation, (text) => (text.length > CUT_AT ? `${text.slice(0, CUT_AT)}…` : text));
}

function shown({ greeting, turns, endedBy, language, analysis }: FinishedConversation, cut: (text: string) => string) {
  return {
    greeting: greeting === "" ? null : cut(greeting),
    turns: turns.map((turn, at) => ({
      turn: at + 1,
      user: cut(turn.user),
      agent: cut(turn.agent),
      tool_calls: turn.toolCalls.map(({ name, arguments: given, result, isError }) => ({
        name,
        arguments: typeof given === "string" ? cut(given) : given,
        result: cut(result),
        is_error: isError,
      })),
      handed_off_to: turn.handedOffTo,
      latency_ms: turn.latencyMs,
      sources: turn.sources.map(({ documentId, name }) => ({ document_id: documentId, name })),
    })),
    ended_by: endedBy,
    language,
    analysis,
  };
}
