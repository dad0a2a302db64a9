import { DeletePromptLabelResponse } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { notFound } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import type { Handler, PromptContext } from "../context.ts";
import { isLabel } from "../labels/label.ts";
import { refuseWhileUsed } from "../refuse-while-used.ts";
import { checkPromptMayExist } from "../rules.ts";
import { deleteLabel, lockPrompt } from "../store/labels.ts";

export function deletePromptLabel(ctx: PromptContext): Handler<"deletePromptLabel"> {
  return ({ ownerId, promptName, label, idempotency }, call) =>
    runIdempotent(ctx, { ownerId, idempotency, codec: DeletePromptLabelResponse, call }, async (tx) => {
      checkPromptMayExist(promptName);
      const key = { ownerId, promptName, label };
      if (!(await lockPrompt(tx, key))) throw notFound("Prompt");
      if (!isLabel(label)) throw notFound("Label");
      await refuseWhileUsed(tx, key);
      if (!(await deleteLabel(tx, key))) throw notFound("Label");
      return { deletedAt: ctx.clock.now() };
    });
}
