import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { listToolsWithSecret } from "../store/tools.ts";

/** Tools that a refusal names. */
const NAMED_MAX = 10;

export function listSecretUsers(
  ctx: AgentContext,
): NonNullable<Handlers<typeof AgentServiceService>["listSecretUsers"]> {
  return async ({ ownerId, secretName }) => ({
    toolNames: secretName.includes("\0") ? [] : await listToolsWithSecret(ctx.db, ownerId, secretName, NAMED_MAX),
  });
}
