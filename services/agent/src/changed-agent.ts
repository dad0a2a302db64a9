import type { UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { AGENT_TYPES, nameOf, PUBLISHINGS } from "@parley/shared/domain/api-names";
import { changedAnalysis, checkAnalysis } from "./analysis.ts";
import type { AgentContext } from "./context.ts";
import { changedFields } from "./fields.ts";
import { sealKeys } from "./model-keys/seal-keys.ts";
import type { AcquiredPrompts } from "./prompts/acquire-prompts.ts";
import { type AgentRow, NO_REFERENCE } from "./store/agents.ts";

/** The agent as a change makes it. @throws ServiceError invalid when the change does not fit the agent */
export function changedAgent(
  { modelKeys, clock }: Pick<AgentContext, "modelKeys" | "clock">,
  before: AgentRow,
  request: UpdateAgentRequest,
  prompts: AcquiredPrompts,
): AgentRow {
  checkAnalysis(before.analysis, request);
  const row: AgentRow = {
    ...before,
    ...changedFields({ ...request, ...sealKeys(request, before, modelKeys, before) }),
    updatedAt: later(clock.now(), before.updatedAt),
  };
  if (request.agentName !== undefined) row.agentName = request.agentName;
  row.agentType = nameOf(AGENT_TYPES, request.agentType) ?? row.agentType;
  row.publishing = nameOf(PUBLISHINGS, request.publishing) ?? row.publishing;
  if (request.clear.includes("prompt")) Object.assign(row, NO_REFERENCE);
  if (prompts.main) Object.assign(row, prompts.main.reference);
  row.analysis = changedAnalysis(before.analysis, request, prompts.analysis);
  return row;
}

/** Moves forward on every change, even within one millisecond or after the clock was set back. */
export function later(now: Date, before: Date): Date {
  return now > before ? now : new Date(before.getTime() + 1);
}
