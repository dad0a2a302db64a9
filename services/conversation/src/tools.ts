import type { ModelTool, ToolCall } from "./model/port.ts";
import { storable } from "./storable.ts";

type AgentTools = Record<string, unknown> | undefined;

const FAREWELL = "Goodbye!";

const END_CALL: ModelTool = {
  name: "end_call",
  description: "Ends the conversation. Use it when the user says goodbye or nothing is left to do.",
  inputSchema: {
    type: "object",
    properties: { message: { type: "string", description: "The last words to the user." } },
    additionalProperties: false,
  },
};

/** What of an agent's tools a chat can use; the others need a call. */
export function chatTools(tools: AgentTools): ModelTool[] {
  return isEnabled(tools?.end_call) ? [END_CALL] : [];
}

/** What is said when the model ends the conversation without a word of its own. */
export function farewellOf(calls: readonly ToolCall[], tools: AgentTools): string {
  const end = calls.find((call) => call.name === "end_call");
  if (!end) return "";
  const configured = (tools?.end_call as { message?: unknown } | undefined)?.message;
  const said = [end.input.message, configured].map((text) => (typeof text === "string" ? storable(text) : ""));
  return said.find((text) => text !== "") ?? FAREWELL;
}

function isEnabled(tool: unknown): boolean {
  return tool === true || (typeof tool === "object" && tool !== null);
}
