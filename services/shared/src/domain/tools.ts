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

export const TOOL_TYPES = {
  http: ToolType.TOOL_TYPE_HTTP,
  client: ToolType.TOOL_TYPE_CLIENT,
  mcp: ToolType.TOOL_TYPE_MCP,
} as const;

export const TOOL_METHODS = {
  GET: ToolMethod.TOOL_METHOD_GET,
  HEAD: ToolMethod.TOOL_METHOD_HEAD,
  POST: ToolMethod.TOOL_METHOD_POST,
  PUT: ToolMethod.TOOL_METHOD_PUT,
  PATCH: ToolMethod.TOOL_METHOD_PATCH,
  DELETE: ToolMethod.TOOL_METHOD_DELETE,
} as const;

export const PARAMETER_PLACES = {
  path: ParameterPlace.PARAMETER_PLACE_PATH,
  query: ParameterPlace.PARAMETER_PLACE_QUERY,
  header: ParameterPlace.PARAMETER_PLACE_HEADER,
  body: ParameterPlace.PARAMETER_PLACE_BODY,
} as const;

export const TOOL_INTERRUPTIONS = {
  continue: ToolInterruption.TOOL_INTERRUPTION_CONTINUE,
  cancel: ToolInterruption.TOOL_INTERRUPTION_CANCEL,
} as const;

export const TOOL_RUNS = {
  wait: ToolRun.TOOL_RUN_WAIT,
  background: ToolRun.TOOL_RUN_BACKGROUND,
} as const;

export const ON_TOOL_CHANGES = {
  keep_if_schema_same: OnToolChange.ON_TOOL_CHANGE_KEEP_IF_SCHEMA_SAME,
  disable: OnToolChange.ON_TOOL_CHANGE_DISABLE,
} as const;

export const MCP_STATES = {
  on: McpState.MCP_STATE_ON,
  changed: McpState.MCP_STATE_CHANGED,
  new: McpState.MCP_STATE_NEW,
  gone: McpState.MCP_STATE_GONE,
} as const;

export const HANDOFF_CONTEXTS = {
  all: HandoffContext.HANDOFF_CONTEXT_ALL,
  last_messages: HandoffContext.HANDOFF_CONTEXT_LAST_MESSAGES,
  none: HandoffContext.HANDOFF_CONTEXT_NONE,
} as const;

export const START_FAILURES = {
  continue: StartFailure.START_FAILURE_CONTINUE,
  reject: StartFailure.START_FAILURE_REJECT,
} as const;
