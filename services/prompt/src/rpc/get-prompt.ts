import type { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { notFound } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { checkPromptMayExist, checkVersion } from "../rules.ts";
import { findVersions } from "../store/prompts.ts";

/** Enough for 500,000 characters. */
const PROMPT_BYTES_MAX = 2 * 1024 * 1024;

export function getPrompt(ctx: PromptContext): NonNullable<Handlers<typeof PromptServiceService>["getPrompt"]> {
  return async ({ ownerId, reference }, call) => {
    const { promptName = "", promptVersion } = reference ?? {};
    checkVersion(promptVersion, "version");
    checkPromptMayExist(promptName);
    const wanted = { ownerId, promptName, promptVersion: promptVersion ?? null };
    const [row] = await ctx.boundedRead(ownerId, PROMPT_BYTES_MAX, call, () => findVersions(ctx.db, [wanted]));
    if (!row) throw notFound("Prompt");
    return { prompt: toPrompt(row) };
  };
}
