import { pageOf } from "@parley/shared/page";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toBase } from "../convert.ts";
import { listBaseRows } from "../store/bases.ts";

export function listKnowledgeBases({ db }: KnowledgeContext): Handler<"listKnowledgeBases"> {
  return async ({ ownerId, page, search }) => {
    const wanted = pageOf(page);
    // No stored text contains this character, and the database rejects queries with it.
    if (search.includes("\0")) return { knowledgeBases: [], total: 0 };
    const { rows, total } = await listBaseRows(db, { ownerId, search }, wanted);
    return { knowledgeBases: rows.map(toBase), total };
  };
}
