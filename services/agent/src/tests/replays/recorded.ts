import { type Conversation, Role, type ToolCall } from "@parley/proto/parley/conversation/v1/conversation.ts";
import { type Mock, TEST_LIMITS } from "@parley/shared/domain/tests";
import { BUILT_IN_TOOLS } from "@parley/shared/domain/tools";
import { parseObject } from "@parley/shared/json/json-object";

/** What the user of a stored conversation said, in order. */
export function messagesOf({ transcript }: Conversation): string[] {
  return (transcript?.messages ?? [])
    .filter(({ role, content }) => role === Role.ROLE_USER && content.trim() !== "")
    .map(({ content }) => content.slice(0, TEST_LIMITS.message));
}

/** The results that the tools of a stored conversation gave, in order, each for a call with the same arguments. */
export function mocksOf({ transcript }: Conversation): Mock[] {
  const calls = (transcript?.messages ?? []).flatMap(({ toolCalls }) => toolCalls);
  return calls.filter(({ name }) => !actsOnConversation(name)).map(mockOf);
}

function mockOf({ name, arguments: given, result, isError }: ToolCall): Mock {
  const when = parseObject(given);
  return {
    tool: name,
    ...(when && { when }),
    ...(isError ? { error: result || "The call failed" } : { result, recorded: true }),
  };
}

/** These work in a test as they always do: nothing leaves the conversation. */
function actsOnConversation(name: string): boolean {
  return (BUILT_IN_TOOLS as readonly string[]).includes(name) || name.startsWith(HANDOFF_PREFIX);
}

/** The tools by which a model hands a conversation over; the agent's id follows. */
export const HANDOFF_PREFIX = "hand_over_to_";
