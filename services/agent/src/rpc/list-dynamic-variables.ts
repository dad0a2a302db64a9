import { FieldType } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { readAgent } from "../read-agents.ts";
import { variablesOf } from "../variables.ts";

const FIELD_TYPES = {
  STRING: FieldType.FIELD_TYPE_STRING,
  NUMBER: FieldType.FIELD_TYPE_NUMBER,
  EMAIL: FieldType.FIELD_TYPE_EMAIL,
  PHONE: FieldType.FIELD_TYPE_PHONE,
} as const;

export function listDynamicVariables(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["listDynamicVariables"]> {
  return async ({ ownerId, agentId }, call) => {
    const { row, prompt } = await readAgent(ctx, { ownerId, agentId }, call);
    return {
      agentName: row.agentName,
      dynamicVariables: variablesOf(prompt?.promptContent, row.firstMessagePrompt).map((variable) => ({
        ...variable,
        fieldType: FIELD_TYPES[variable.fieldType],
      })),
    };
  };
}
