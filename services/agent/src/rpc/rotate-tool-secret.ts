import { RotateToolSecretResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { sealedResponses } from "@parley/shared/idempotency/sealed-responses";
import { rotated } from "@parley/shared/signing-secrets";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import { newSigningSecret } from "@parley/shared/webhook-signature";
import { later } from "../changed-agent.ts";
import type { AgentContext, Handler } from "../context.ts";
import { raiseKeysRevisions } from "../store/agents.ts";
import { type ToolRow, updateToolRow } from "../store/tools.ts";
import { getToolRow, toRuntimeTool } from "../tools/read-tools.ts";
import { sealSigningSecret } from "../tools/signing.ts";

/** The response is the only one that shows the new secret. */
export function rotateToolSecret(ctx: AgentContext): Handler<"rotateToolSecret"> {
  return async ({ ownerId, toolId, idempotency }, call) => {
    const key = { ownerId, toolId };
    const codec = sealedResponses(RotateToolSecretResponse, ctx.sealer, ownerId);
    return runIdempotent(ctx, { ownerId, idempotency, codec, call }, async (tx) => {
      await lockStoredBytes(tx, ownerId);
      const before = await getToolRow(tx, key);
      const { sealedSecret, oldSecrets } = before;
      if (sealedSecret === null)
        throw new ServiceError("condition", "Only HTTP tools have a signing secret: this one makes no requests");
      const now = ctx.clock.now();
      const fresh = sealSigningSecret(ctx.sealer, key, newSigningSecret());
      const { secrets } = rotated({ sealedSecret, oldSecrets }, fresh, now);
      const after: ToolRow = { ...before, ...secrets, updatedAt: later(now, before.updatedAt) };
      await updateToolRow(tx, after);
      await raiseKeysRevisions(tx, ownerId);
      return { tool: toRuntimeTool(ctx, after) };
    });
  };
}
