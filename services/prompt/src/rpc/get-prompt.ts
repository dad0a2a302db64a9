import type { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { notFound } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { checkPromptMayExist, checkVersion } from "../rules.ts";
import { findVersions } from "../store/prompts.ts";

export function getPrompt(ctx: PromptContext): NonNullable<Handlers<typeof PromptServiceService>["getPrompt"]> {
  return async ({ ownerId, reference }) => {
    const { promptName = "", promptVersion } = reference ?? {};
    checkVersion(promptVersion, "version");
    checkPromptMayExist(promptName);
    const wanted = { ownerId, promptName, promptVersion: promptVersion ?? null };
    const [row] = await findVersions(ctx.db, [wanted]);
    if (!row) throw notFound("Prompt");
    return { prompt: toPrompt(row) };
  };
}
