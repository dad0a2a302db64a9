import { DeleteKnowledgeBaseResponse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { Handler, KnowledgeContext } from "../context.ts";
import { enqueueRemoval } from "../ingest/remove.ts";
import { getBase } from "../read-rows.ts";
import { deleteBaseRow } from "../store/bases.ts";

/** The base is gone at once, for searches too; its documents are deleted by a job. */
export function deleteKnowledgeBase(ctx: KnowledgeContext): Handler<"deleteKnowledgeBase"> {
  return ({ ownerId, knowledgeBaseId, idempotency }, call) => {
    const key = { ownerId, baseId: knowledgeBaseId };
    return runPrepared(
      ctx,
      { ownerId, idempotency, codec: DeleteKnowledgeBaseResponse, call },
      {
        prepare: async () => {
          const { name } = await getBase(ctx.db, key);
          const { agentNames, total } = await ctx.agents.listKnowledgeBaseUsers(
            { ownerId, knowledgeBaseId },
            { origin: call },
          );
          if (total > 0) throw isUsed(name, agentNames, total);
        },
        write: async (tx) => {
          await lockStoredBytes(tx, ownerId);
          const { name, documentCount } = await getBase(tx, key);
          await deleteBaseRow(tx, key);
          const now = ctx.clock.now();
          await enqueueRemoval(tx, key, now);
          return { name, documentsDeleted: documentCount, deletedAt: now };
        },
      },
    );
  };
}

function isUsed(name: string, agentNames: readonly string[], total: number): ServiceError {
  const more = total > agentNames.length ? ` and ${total - agentNames.length} more` : "";
  return new ServiceError(
    "conflict",
    `Knowledge base ${name} is used by the ${total === 1 ? "agent" : "agents"} ${agentNames.join(", ")}${more}: take it out of every agent, in published versions too, before deleting it`,
  );
}
