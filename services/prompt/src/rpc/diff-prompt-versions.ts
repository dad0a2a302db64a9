import { compileTexts } from "@parley/shared/domain/variables/template";
import { notFound } from "@parley/shared/errors";
import { unifiedDiff } from "@parley/shared/text/unified-diff";
import type { Handler, PromptContext } from "../context.ts";
import { versionNamed } from "../labels/label.ts";
import { checkPromptMayExist } from "../rules.ts";
import { findVersions, type PromptRow } from "../store/prompts.ts";
import { findTypes } from "../store/references.ts";

export function diffPromptVersions(ctx: PromptContext): Handler<"diffPromptVersions"> {
  return async ({ ownerId, promptName, from, to }) => {
    checkPromptMayExist(promptName);
    const wanted = [versionNamed(from, "from"), versionNamed(to, "to")];
    const [older, newer] = await findVersions(
      ctx.db,
      wanted.map((version) => ({ ownerId, promptName, ...version })),
    );
    if (!older || !newer) {
      const exists = (await findTypes(ctx.db, ownerId, [promptName])).has(promptName);
      throw exists ? notFound("Version", older ? "to" : "from") : notFound("Prompt");
    }
    const [before, after] = [variablesOf(older), variablesOf(newer)];
    return {
      fromVersion: older.promptVersion,
      toVersion: newer.promptVersion,
      diff: await unifiedDiff(titled(older), titled(newer)),
      variablesAdded: [...after.difference(before)],
      variablesRemoved: [...before.difference(after)],
    };
  };
}

function titled({ promptVersion, promptContent }: PromptRow) {
  return { title: `version ${promptVersion}`, text: promptContent };
}

function variablesOf({ promptContent }: PromptRow): Set<string> {
  return new Set(compileTexts([promptContent]).definitions.map(({ variableName }) => variableName));
}
