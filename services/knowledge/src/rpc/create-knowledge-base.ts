import { CreateKnowledgeBaseResponse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { newId } from "@parley/shared/ids";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toBase } from "../convert.ts";
import { getBase } from "../read-rows.ts";
import { checkBase } from "../rules.ts";
import { insertBase } from "../store/bases.ts";

export function createKnowledgeBase(ctx: KnowledgeContext): Handler<"createKnowledgeBase"> {
  return ({ ownerId, name, description, idempotency }, call) =>
    runIdempotent(ctx, { ownerId, idempotency, codec: CreateKnowledgeBaseResponse, call }, async (tx) => {
      checkBase({ name, description });
      const key = { ownerId, baseId: newId("kb") };
      const now = ctx.clock.now();
      await withinRoom(tx, ownerId, ctx.room, () =>
        insertBase(tx, { ...key, name, description, createdAt: now, updatedAt: now }),
      );
      return { knowledgeBase: toBase(await getBase(tx, key)) };
    });
}
