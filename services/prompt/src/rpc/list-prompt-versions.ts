import { notFound } from "@parley/shared/errors";
import type { Handler, PromptContext } from "../context.ts";
import { checkPromptMayExist } from "../rules.ts";
import { listVersions } from "../store/prompts.ts";
import { listReferringAgents } from "../store/references.ts";

const AGENTS_LISTED_MAX = 100;

export function listPromptVersions(ctx: PromptContext): Handler<"listPromptVersions"> {
  return async ({ ownerId, promptName, includeUsedBy }) => {
    checkPromptMayExist(promptName);
    const versions = await listVersions(ctx.db, ownerId, promptName);
    if (versions.length === 0) throw notFound("Prompt");
    if (!includeUsedBy) return { versions, usedBy: [], usedByTotal: 0 };
    const { agents, total } = await listReferringAgents(
      ctx.db,
      { ownerId, promptName, label: null },
      AGENTS_LISTED_MAX,
    );
    const usedBy = agents.map(({ labels, ...agent }) => ({ ...agent, promptLabels: labels }));
    return { versions, usedBy, usedByTotal: total };
  };
}
