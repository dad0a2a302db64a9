import { notFound } from "@parley/shared/errors";
import type { Handler, PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { wantedVersion } from "../labels/label.ts";
import { checkPromptMayExist } from "../rules.ts";
import { findVersions } from "../store/prompts.ts";
import { findTypes } from "../store/references.ts";

export function getPrompt(ctx: PromptContext): Handler<"getPrompt"> {
  return async ({ ownerId, reference }) => {
    const { promptName = "" } = reference ?? {};
    const wanted = wantedVersion(reference ?? {}, { version: "version", label: "label" });
    checkPromptMayExist(promptName);
    const [row] = await findVersions(ctx.db, [{ ownerId, promptName, ...wanted }]);
    if (row) return { prompt: toPrompt(row) };
    const isLabelGone = wanted.promptLabel !== null && (await findTypes(ctx.db, ownerId, [promptName])).has(promptName);
    throw isLabelGone ? notFound("Label", "label") : notFound("Prompt");
  };
}
