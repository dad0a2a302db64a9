import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import type { CreateAgentRequest, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { AGENT_FIELDS, type AgentField, agentFields, isList } from "@parley/shared/domain/agent-fields";
import type { StoredLlm } from "./model-keys/llm-secrets.ts";
import type { AgentFields } from "./store/agents.ts";

/** A request whose model's keys are sealed. */
type Sealed<R extends { llm: unknown }> = Omit<R, "llm"> & { llm: StoredLlm | undefined };

/** The fields of a new agent. */
export function newFields(request: Sealed<Pick<CreateAgentRequest, AgentField>>): AgentFields {
  return fromFields((field) => request[field] ?? AGENT_FIELDS[field].empty) as AgentFields;
}

/** The fields that an update gives or clears. */
export function changedFields(
  request: Sealed<Pick<UpdateAgentRequest, AgentField>> & Pick<UpdateAgentRequest, "clear">,
): Partial<AgentFields> {
  const changes = agentFields.map((field) => [field, changeOf(field, request[field], request.clear)] as const);
  return Object.fromEntries(changes.filter(([, value]) => value !== undefined));
}

function changeOf(field: AgentField, given: unknown, clear: readonly string[]): unknown {
  if (given !== undefined) return isList(field) ? (given as { values: unknown }).values : given;
  return clear.includes(field) ? AGENT_FIELDS[field].empty : undefined;
}

/** The fields as messages have them, but for the model, whose keys each message has in a form of its own. */
export function messageFields(row: AgentFields): Omit<Pick<Agent, AgentField>, "llm"> {
  return fromFields((field) => (field === "llm" ? undefined : (row[field] ?? undefined))) as Omit<
    Pick<Agent, AgentField>,
    "llm"
  >;
}

function fromFields(valueFor: (field: AgentField) => unknown): object {
  return Object.fromEntries(agentFields.map((field) => [field, valueFor(field)]));
}
