import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { FIELD_TYPES } from "@parley/shared/domain/api-names";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { readAgent } from "../read-agents.ts";
import { variablesOf } from "../variables.ts";

export function listDynamicVariables(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["listDynamicVariables"]> {
  return async ({ ownerId, agentId }, call) => {
    const { row, prompt } = await readAgent(ctx, { ownerId, agentId }, call);
    return {
      agentName: row.agentName,
      dynamicVariables: variablesOf(ownerId, prompt?.promptContent, row.firstMessagePrompt).map((variable) => ({
        ...variable,
        fieldType: FIELD_TYPES[variable.fieldType],
      })),
    };
  };
}
