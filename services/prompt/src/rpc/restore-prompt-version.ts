import { RestorePromptVersionResponse } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { notFound } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import type { Handler, PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { withFollowers } from "../following/follow.ts";
import { checkPromptMayExist, checkVersion } from "../rules.ts";
import { findVersions, insertNextVersion } from "../store/prompts.ts";
import { findTypes } from "../store/references.ts";

export function restorePromptVersion(ctx: PromptContext): Handler<"restorePromptVersion"> {
  return ({ ownerId, promptName, promptVersion, idempotency }, call) =>
    withFollowers(ctx, call, (promise) =>
      runIdempotent(ctx, { ownerId, idempotency, codec: RestorePromptVersionResponse, call }, async (tx) => {
        checkVersion(promptVersion, "prompt_version");
        checkPromptMayExist(promptName);
        const row = await withinRoom(tx, ownerId, ctx.room, async () => {
          const [old] = await findVersions(tx, [{ ownerId, promptName, promptVersion, promptLabel: null }]);
          if (!old) {
            const exists = (await findTypes(tx, ownerId, [promptName])).has(promptName);
            throw exists ? notFound("Version", "prompt_version") : notFound("Prompt");
          }
          const { promptContent } = old;
          return insertNextVersion(tx, { ownerId, promptName, promptContent, now: ctx.clock.now() });
        });
        if (!row) throw notFound("Prompt");
        await promise(tx, { ownerId, promptName });
        return { prompt: toPrompt(row) };
      }),
    );
}
