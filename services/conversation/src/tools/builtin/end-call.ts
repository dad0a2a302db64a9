import type { ToolCall } from "../../model/port.ts";
import { storable } from "../../store/storable.ts";
import { type BuiltinConfigs, type BuiltinTool, configOf } from "./builtin.ts";

const FAREWELL = "Goodbye!";

export const endCall: BuiltinTool = {
  definition: () => ({
    name: "end_call",
    description: "Ends the conversation. Use it when the user says goodbye or nothing is left to do.",
    inputSchema: {
      type: "object",
      properties: { message: { type: "string", description: "The last words to the user." } },
      additionalProperties: false,
    },
  }),
  run: () => ({
    result: "The conversation ends with this reply.",
    isError: false,
    ends: true,
    action: { type: "end_call" },
  }),
};

/** The last words when the model ends the conversation, or its part of it, without saying anything. */
export function farewellOf(calls: readonly ToolCall[], configs: BuiltinConfigs): string {
  const end = calls.find((call) => call.name === "end_call" || call.name === "transfer_call");
  const said = [end?.input?.message, configOf(configs, end?.name ?? "end_call")?.message];
  const texts = said.map((text) => (typeof text === "string" ? storable(text) : ""));
  return texts.find((text) => text !== "") ?? FAREWELL;
}
