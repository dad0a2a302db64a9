import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import type { CreateAgentRequest, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";

interface Description {
  /** Name in the API's requests and answers. */
  api: string;
  column: "text" | "text[]" | "integer" | "boolean" | "jsonb";
  /** The value of an agent that was given none, or whose value was cleared. */
  empty: null | string | number | boolean | readonly never[];
  /** The value that an answer shows instead of null. */
  nullShownAs?: object;
  /** A list that has each value once. */
  isDistinct?: true;
  /**
   * The API's form is not the protocol's: `gateway/src/routes/agent-request.ts` and `gateway/src/present/agent.ts` convert it
   * by hand.
   */
  converted?: true;
}

/**
 * The fields of an agent that a request may leave out, by their name in the protocol; the column has that name in snake case.
 * Requests, clearing, rows, messages and answers follow from this table. Names, types, prompts and analysis have rules of
 * their own and are written out where those stand.
 */
export const AGENT_FIELDS = {
  agentDescription: { api: "agent_description", column: "text", empty: null },
  agentCategory: { api: "agent_category", column: "text", empty: "other" },
  agentTips: { api: "agent_tips", column: "text[]", empty: [] },
  agentMobileNumbers: { api: "agent_mobile_number", column: "text[]", empty: [], isDistinct: true },
  stt: { api: "stt", column: "jsonb", empty: null, converted: true },
  llm: { api: "llm", column: "jsonb", empty: null, converted: true },
  tts: { api: "tts", column: "jsonb", empty: null, converted: true },
  sts: { api: "sts", column: "jsonb", empty: null, converted: true },
  firstMessagePrompt: { api: "first_message_prompt", column: "text", empty: null },
  tools: { api: "tools", column: "jsonb", empty: null, nullShownAs: {} },
  customTools: { api: "custom_tools", column: "jsonb", empty: [], converted: true },
  handoffs: { api: "handoffs", column: "jsonb", empty: [], converted: true },
  knowledge: { api: "knowledge", column: "jsonb", empty: [], converted: true },
  timezone: { api: "timezone", column: "text", empty: null },
  startWebhook: { api: "start_webhook", column: "jsonb", empty: null, converted: true },
  callSettings: { api: "call_settings", column: "jsonb", empty: null, nullShownAs: {} },
  recording: { api: "recording", column: "boolean", empty: false },
  whatsapp: { api: "whatsapp", column: "jsonb", empty: null, nullShownAs: {} },
  widgetConfig: { api: "widget_config", column: "jsonb", empty: null, nullShownAs: {} },
  mediaFiles: { api: "MediaFiles", column: "jsonb", empty: [] },
} as const satisfies { [F in keyof Agent & keyof CreateAgentRequest & keyof UpdateAgentRequest]?: Description };

type Fields = typeof AGENT_FIELDS;
export type AgentField = keyof Fields;
/** The fields that have the same form in the API and the protocol. */
export type PlainAgentField = { [F in AgentField]: Fields[F] extends { converted: true } ? never : F }[AgentField];

export const agentFields = Object.keys(AGENT_FIELDS) as AgentField[];
export const plainAgentFields = agentFields.filter(
  (field) => !("converted" in AGENT_FIELDS[field]),
) as PlainAgentField[];

/** Whether a field has several values. An update wraps them in `values`, since no list cannot be told from an empty one. */
export function isList(field: AgentField): boolean {
  return Array.isArray(AGENT_FIELDS[field].empty);
}

/** Whether a list has each value once. */
export function isDistinct(field: AgentField): boolean {
  const description: Description = AGENT_FIELDS[field];
  return description.isDistinct === true;
}

/** The value that answers show instead of null. */
export function nullShownAs(field: AgentField): object | null {
  const description: Description = AGENT_FIELDS[field];
  return description.nullShownAs ?? null;
}
