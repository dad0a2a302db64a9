import { newId } from "@parley/shared/ids";
import type { ToolCall } from "../model/port.ts";
import { failed, type ToolContext, type ToolOutcome } from "./tool.ts";
import type { Toolbox } from "./toolbox.ts";

/** What is the same for all calls of a turn. */
export type CallPlace = Omit<ToolContext, "toolCallId">;

/** Makes a tool call. If that is impossible, the outcome tells the model so. */
export function callTool(call: ToolCall, toolbox: Toolbox, place: CallPlace): ToolOutcome | Promise<ToolOutcome> {
  const tool = toolbox.find(call.name);
  if (!tool) return failed("There is no such tool. Answer the user in words.");
  return tool.run(call, { ...place, toolCallId: newId("tcl") });
}
