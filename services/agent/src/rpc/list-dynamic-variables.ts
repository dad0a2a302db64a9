import { FIELD_TYPES } from "@parley/shared/domain/api-names";
import type { AgentContext, Handler } from "../context.ts";
import { checkAgentId, readNewest } from "../read-agents.ts";
import { findShownVersions } from "../store/versions.ts";
import { variablesOf } from "../variables.ts";

export function listDynamicVariables(ctx: AgentContext): Handler<"listDynamicVariables"> {
  return async ({ ownerId, agentId }) => {
    checkAgentId(agentId);
    const { row, prompt } = await readNewest(ctx.db, { ownerId, agentId }, findShownVersions);
    return {
      agentName: row.agentName,
      dynamicVariables: variablesOf(ownerId, prompt?.promptContent, row.firstMessagePrompt).map((variable) => ({
        ...variable,
        fieldType: FIELD_TYPES[variable.fieldType],
      })),
    };
  };
}
