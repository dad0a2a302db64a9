import type { Agent } from "@parley/proto/parley/agent/v1/agent.ts";
import type { CreateAgentRequest, UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { AGENT_FIELDS, type AgentField, agentFields, isDistinct, isList } from "@parley/shared/domain/agent-fields";
import { type AgentFields, FIELDS_WITH_KEYS, type FieldWithKey } from "./store/agents.ts";

/** A request whose keys have been sealed. */
type Sealed<R> = Omit<R, FieldWithKey> & { [F in FieldWithKey]: NonNullable<AgentFields[F]> | undefined };

/** The fields of a new agent. */
export function newFields(request: Sealed<Pick<CreateAgentRequest, AgentField>>): AgentFields {
  return fromFields((field) => kept(field, request[field] ?? AGENT_FIELDS[field].empty)) as AgentFields;
}

/** The fields that an update sets or clears. */
export function changedFields(
  request: Sealed<Pick<UpdateAgentRequest, AgentField>> & Pick<UpdateAgentRequest, "clear">,
): Partial<AgentFields> {
  const changes = agentFields.map((field) => [field, changeOf(field, request[field], request.clear)] as const);
  return Object.fromEntries(changes.filter(([, value]) => value !== undefined));
}

function changeOf(field: AgentField, given: unknown, clear: readonly string[]): unknown {
  if (given !== undefined) return kept(field, isList(field) ? (given as { values: unknown }).values : given);
  return clear.includes(field) ? AGENT_FIELDS[field].empty : undefined;
}

/** A value as it is stored: a distinct list without the repeats of its values. */
function kept(field: AgentField, value: unknown): unknown {
  return isDistinct(field) ? [...new Set(value as readonly string[])] : value;
}

/** The fields as in messages, except those with keys, which each message has in its own form. */
export function messageFields(row: AgentFields): Pick<Agent, Exclude<AgentField, FieldWithKey>> {
  const withKeys: readonly AgentField[] = FIELDS_WITH_KEYS;
  return fromFields((field) => (withKeys.includes(field) ? undefined : (row[field] ?? undefined))) as Pick<
    Agent,
    Exclude<AgentField, FieldWithKey>
  >;
}

function fromFields(valueFor: (field: AgentField) => unknown): object {
  return Object.fromEntries(agentFields.map((field) => [field, valueFor(field)]));
}
