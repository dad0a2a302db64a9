import { StartFailure } from "@parley/proto/parley/agent/v1/agent.ts";
import {
  HandoffContext,
  McpState,
  OnToolChange,
  ParameterPlace,
  ToolInterruption,
  ToolMethod,
  ToolRun,
  ToolType,
} from "@parley/proto/parley/agent/v1/tool.ts";
import { lowerNamed, named } from "./named.ts";

/** The tools that act on the conversation itself. No tool of the library has one of these names. */
export const BUILT_IN_TOOLS = [
  "end_call",
  "transfer_call",
  "schedule_call",
  "set_language",
  "background_audio",
  "user_idle",
  "send_dtmf",
  "search_knowledge",
] as const;

// The names of protocol numbers in the API and the tables.

export const TOOL_TYPES = lowerNamed(ToolType, "TOOL_TYPE");
export const TOOL_METHODS = named(ToolMethod, "TOOL_METHOD");
export const PARAMETER_PLACES = lowerNamed(ParameterPlace, "PARAMETER_PLACE");
export const TOOL_INTERRUPTIONS = lowerNamed(ToolInterruption, "TOOL_INTERRUPTION");
export const TOOL_RUNS = lowerNamed(ToolRun, "TOOL_RUN");
export const ON_TOOL_CHANGES = lowerNamed(OnToolChange, "ON_TOOL_CHANGE");
export const MCP_STATES = lowerNamed(McpState, "MCP_STATE");
export const HANDOFF_CONTEXTS = lowerNamed(HandoffContext, "HANDOFF_CONTEXT");
export const START_FAILURES = lowerNamed(StartFailure, "START_FAILURE");
