import { notFound } from "@parley/shared/errors";
import type { Handler, PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { wantedVersion } from "../labels/label.ts";
import { checkPromptMayExist } from "../rules.ts";
import { findVersions } from "../store/prompts.ts";

export function getPrompt(ctx: PromptContext): Handler<"getPrompt"> {
  return async ({ ownerId, reference }) => {
    const { promptName = "" } = reference ?? {};
    const wanted = wantedVersion(reference ?? {}, { version: "version", label: "label" });
    checkPromptMayExist(promptName);
    const [row] = await findVersions(ctx.db, [{ ownerId, promptName, ...wanted }]);
    if (!row) throw notFound("Prompt");
    return { prompt: toPrompt(row) };
  };
}
