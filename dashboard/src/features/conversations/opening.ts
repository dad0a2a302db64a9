import type { components } from "../../api/gen/schema.ts";

type Message = components["schemas"]["Message"];

interface Opened {
  conversation_transcript?: readonly Pick<Message, "role" | "content">[] | null;
  mobile_number?: components["schemas"]["Conversation"]["mobile_number"];
}

/** The user's first words distinguish conversations; without any, the caller, or the agent's greeting. */
export function openingOf({ conversation_transcript, mobile_number }: Opened): string {
  const messages = conversation_transcript ?? [];
  const said = firstWords(messages.filter(({ role }) => role === "user"));
  return said || mobile_number || firstWords(messages) || (messages.length > 0 ? "No words" : "No messages");
}

/** The first content with more than spaces; undefined without one. */
function firstWords(messages: readonly Pick<Message, "content">[]): string | undefined {
  return messages.map(({ content }) => content.trim()).find((words) => words !== "");
}
