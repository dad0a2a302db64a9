/** The event that every contender sends: a short call's conversation.completed, about 1.5 KB. */
export const EVENT = "conversation.completed";

export interface Sample {
  id: string;
  conversationId: string;
  payload: string;
}

const TRANSCRIPT = Array.from({ length: 8 }, (_, at) => ({
  role: at % 2 === 0 ? "assistant" : "user",
  content: "I would like to move my appointment to Friday, as early as you can make it, please.",
  timestamp: "2026-01-01T00:00:00.000Z",
}));

export function sample(id: string): Sample {
  const conversationId = Bun.randomUUIDv7();
  const payload = JSON.stringify({
    event: EVENT,
    id,
    conversation_id: conversationId,
    agent_id: "agt_00000000000000000000000000",
    conversation_type: "CHAT",
    conversation_status: "COMPLETED",
    notes: null,
    is_test_call: false,
    conversation_transcript: TRANSCRIPT,
    conversation_analysis: [],
  });
  return { id, conversationId, payload };
}

/** Milliseconds since 1970 with fractions, on a clock that all processes of this machine share. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
