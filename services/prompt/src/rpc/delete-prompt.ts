import { DeletePromptResponse, type PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { willSettle } from "@parley/shared/changes/follow";
import type { Sql } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import type { Handlers } from "@parley/shared/rpc/server";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { PromptContext } from "../context.ts";
import { checkPromptMayExist } from "../rules.ts";
import { deletePromptRow, lockPromptToDelete } from "../store/prompts.ts";
import { listReferringAgents } from "../store/references.ts";

/** Agents that the refusal of a deletion names. */
const AGENTS_NAMED_MAX = 10;

export function deletePrompt(ctx: PromptContext): NonNullable<Handlers<typeof PromptServiceService>["deletePrompt"]> {
  return ({ ownerId, promptName, idempotency }, call) =>
    runIdempotent(ctx, { ownerId, idempotency, codec: DeletePromptResponse, call }, async (tx) => {
      checkPromptMayExist(promptName);
      await willSettle(tx);
      await lockStoredBytes(tx, ownerId);
      if (!(await lockPromptToDelete(tx, ownerId, promptName))) throw notFound("Prompt");
      await refuseWhileUsed(tx, ownerId, promptName);
      const versionsDeleted = await deletePromptRow(tx, ownerId, promptName);
      return { versionsDeleted, deletedAt: ctx.clock.now() };
    });
}

async function refuseWhileUsed(tx: Sql, ownerId: string, promptName: string): Promise<void> {
  const { agents, total } = await listReferringAgents(tx, ownerId, promptName, AGENTS_NAMED_MAX);
  if (total === 0) return;
  const more = total > agents.length ? ` and ${total - agents.length} more` : "";
  const names = agents.map(({ agentName }) => agentName).join(", ");
  throw new ServiceError(
    "conflict",
    `Prompt ${promptName} is used by the ${total === 1 ? "agent" : "agents"} ${names}${more}: give every agent another prompt before deleting it`,
  );
}
