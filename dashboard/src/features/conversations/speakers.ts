import type { components } from "../../api/gen/schema.ts";
import type { ToolCall } from "./said.ts";

type Conversation = components["schemas"]["Conversation"];

const HANDS_OVER = "hand_over_to_";

/** The agent to which a tool call has handed the conversation over; null for any other call. */
export function handedTo({ name, status }: Pick<ToolCall, "name" | "status">): string | null {
  return name.startsWith(HANDS_OVER) && status === "SUCCEEDED" ? name.slice(HANDS_OVER.length) : null;
}

/**
 * The id of the agent that speaks at the beginning of each message of the transcript. A long transcript has only its newest messages, so
 * the agents are followed from the end.
 */
export function speakersOf({
  agent_path: path,
  conversation_transcript: messages,
}: Pick<Conversation, "agent_path" | "conversation_transcript">): string[] {
  let at = path.length - 1;
  const speakers: string[] = [];
  for (const message of (messages ?? []).toReversed()) {
    for (const call of (message.tool_calls ?? []).toReversed()) {
      const agentId = handedTo(call);
      if (agentId === null) continue;
      // The first agent takes over again without a call if the other one was deleted.
      while (at > 0 && path[at]?.agent_id !== agentId) at--;
      at = Math.max(0, at - 1);
    }
    speakers.push(path[at]?.agent_id ?? "");
  }
  return speakers.reverse();
}
