import { notFound } from "@parley/shared/errors";

/** The kind of object that each path parameter names, for the not-found message. */
export const NAMED: Readonly<Record<string, string>> = {
  agent_id: "Agent",
  agent_version: "Agent version",
  batch_id: "Call batch",
  call_id: "Call",
  carrier_id: "Carrier",
  conversation_id: "Conversation",
  delivery_id: "Delivery",
  destination_id: "Destination",
  chunk_id: "Chunk",
  document_id: "Document",
  key_id: "API key",
  knowledge_base_id: "Knowledge base",
  mobile_number: "Mobile number",
  other_version: "Agent version",
  owner_session_id: "Session",
  prompt_name: "Prompt",
  secret_name: "Secret",
  session_id: "Session",
  replay_id: "Replay",
  run_id: "Run",
  test_id: "Test",
  tool_id: "Tool",
  voice_id: "Voice",
};

/**
 * Returns the parameters of a path, in which a malformed id is 404 (docs/api-reference.md#identifiers-and-time).
 * @param params null stands for one whose percent-encoding is broken
 * @throws ServiceError not_found for such a parameter, and for one with a NUL character, which no stored value has
 */
export function readParams(params: Record<string, string | null> = {}): Record<string, string> {
  for (const [name, value] of Object.entries(params)) {
    if (value === null || value.includes("\0")) throw notFound(NAMED[name] ?? "Resource");
  }
  return params as Record<string, string>;
}
