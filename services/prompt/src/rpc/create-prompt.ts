import type { PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { CreatePromptResponse } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { nameOf, PROMPT_TYPES } from "@parley/shared/domain/api-names";
import { invalid, ServiceError } from "@parley/shared/errors";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { newId } from "@parley/shared/ids";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import type { Handler, PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { withFollowers } from "../following/follow.ts";
import { checkContent, checkPromptName } from "../rules.ts";
import { insertVersion } from "../store/prompts.ts";

export function createPrompt(ctx: PromptContext): Handler<"createPrompt"> {
  return ({ ownerId, promptName, promptContent, promptType, idempotency, newOnly }, call) =>
    withFollowers(ctx, call, (promise) =>
      runIdempotent(ctx, { ownerId, idempotency, codec: CreatePromptResponse, call }, async (tx) => {
        checkPromptName(promptName);
        checkContent(promptContent);
        const version = {
          ownerId,
          promptName,
          promptId: newId("pmt"),
          promptType: nameOf(PROMPT_TYPES, promptType) ?? null,
          internalAgentId: null,
          promptContent,
          newOnly,
          now: ctx.clock.now(),
        };
        const row = await withinRoom(tx, ownerId, ctx.room, () => insertVersion(tx, version));
        if (!row) throw newOnly ? isTaken(promptName) : otherType(promptType);
        await promise(tx, { ownerId, promptName });
        return { prompt: toPrompt(row) };
      }),
    );
}

/** There are two types, so the prompt has the one that was not requested. */
function otherType(asked: PromptType): ServiceError {
  const own = asked === PROMPT_TYPES.main ? "analysis" : "main";
  const path = "prompt_metadata.prompt_type";
  return invalid(path, `${path} must be ${own}: a new version keeps the type of its prompt`);
}

function isTaken(name: string): ServiceError {
  const message = `prompt_name ${name} is taken: choose another, or leave out new_only to add a version to that prompt`;
  return new ServiceError("conflict", message, { violations: [{ path: "prompt_name", message }] });
}
