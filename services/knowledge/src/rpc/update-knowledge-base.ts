import { UpdateKnowledgeBaseResponse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toBase } from "../convert.ts";
import { getBase, requireHeldBase } from "../read-rows.ts";
import { checkBase } from "../rules.ts";
import { updateBase } from "../store/bases.ts";

export function updateKnowledgeBase(ctx: KnowledgeContext): Handler<"updateKnowledgeBase"> {
  return ({ ownerId, knowledgeBaseId, name, description, idempotency }, call) =>
    runIdempotent(ctx, { ownerId, idempotency, codec: UpdateKnowledgeBaseResponse, call }, async (tx) => {
      checkBase({ name, description });
      const key = { ownerId, baseId: knowledgeBaseId };
      const change = { name, description, now: ctx.clock.now() };
      await withinRoom(tx, ownerId, ctx.room, async () => {
        await requireHeldBase(tx, key);
        await updateBase(tx, key, change);
      });
      return { knowledgeBase: toBase(await getBase(tx, key)) };
    });
}
