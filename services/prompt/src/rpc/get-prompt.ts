import type { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { notFound } from "@parley/shared/errors";
import type { Handlers } from "@parley/shared/rpc/server";
import type { PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { wantedVersion } from "../labels/label.ts";
import { checkPromptMayExist } from "../rules.ts";
import { findVersions } from "../store/prompts.ts";

export function getPrompt(ctx: PromptContext): NonNullable<Handlers<typeof PromptServiceService>["getPrompt"]> {
  return async ({ ownerId, reference }) => {
    const { promptName = "" } = reference ?? {};
    const wanted = wantedVersion(reference ?? {}, { version: "version", label: "label" });
    checkPromptMayExist(promptName);
    const [row] = await findVersions(ctx.db, [{ ownerId, promptName, ...wanted }]);
    if (!row) throw notFound("Prompt");
    return { prompt: toPrompt(row) };
  };
}
