import { UpdatePromptResponse } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { notFound } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import type { Handler, PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { withFollowers } from "../following/follow.ts";
import { checkContent, checkPromptMayExist } from "../rules.ts";
import { insertNextVersion } from "../store/prompts.ts";

export function updatePrompt(ctx: PromptContext): Handler<"updatePrompt"> {
  return ({ ownerId, promptName, promptContent, idempotency }, call) =>
    withFollowers(ctx, call, (promise) =>
      runIdempotent(ctx, { ownerId, idempotency, codec: UpdatePromptResponse, call }, async (tx) => {
        checkContent(promptContent);
        checkPromptMayExist(promptName);
        const version = { ownerId, promptName, promptContent, now: ctx.clock.now() };
        const row = await withinRoom(tx, ownerId, ctx.room, () => insertNextVersion(tx, version));
        if (!row) throw notFound("Prompt");
        await promise(tx, { ownerId, promptName });
        return { prompt: toPrompt(row) };
      }),
    );
}
