import { pageOf } from "@parley/shared/page";
import type { Handler, PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { listPromptRows } from "../store/list-prompts.ts";

export function listPrompts(ctx: PromptContext): Handler<"listPrompts"> {
  return async ({ ownerId, search, latestOnly, page }) => {
    const wanted = pageOf(page);
    // No stored text contains this character, and the database rejects queries with it.
    if (search.includes("\0")) return { prompts: [], total: 0 };
    const filter = { ownerId, search, latestOnly };
    const { rows, total } = await listPromptRows(ctx.db, filter, wanted);
    return { prompts: rows.map(toPrompt), total };
  };
}
