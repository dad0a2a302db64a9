import { DeletePromptResponse } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { notFound } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { Handler, PromptContext } from "../context.ts";
import { refuseWhileUsed } from "../refuse-while-used.ts";
import { checkPromptMayExist } from "../rules.ts";
import { deletePromptRow, lockPromptToDelete } from "../store/prompts.ts";

export function deletePrompt(ctx: PromptContext): Handler<"deletePrompt"> {
  return ({ ownerId, promptName, idempotency }, call) =>
    runIdempotent(ctx, { ownerId, idempotency, codec: DeletePromptResponse, call }, async (tx) => {
      checkPromptMayExist(promptName);
      await lockStoredBytes(tx, ownerId);
      if (!(await lockPromptToDelete(tx, ownerId, promptName))) throw notFound("Prompt");
      await refuseWhileUsed(tx, { ownerId, promptName, label: null });
      const versionsDeleted = await deletePromptRow(tx, ownerId, promptName);
      return { versionsDeleted, deletedAt: ctx.clock.now() };
    });
}
