import { isId } from "@parley/shared/ids";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toBase } from "../convert.ts";
import { findBaseOwners, findBases } from "../store/bases.ts";

export function resolveKnowledgeBases({ db }: KnowledgeContext): Handler<"resolveKnowledgeBases"> {
  return async ({ ownerId, knowledgeBaseIds }) => {
    const ids = knowledgeBaseIds.filter((id) => isId("kb", id));
    const bases = new Map((await findBases(db, ownerId, ids)).map((row) => [row.baseId, row]));
    const isMissing = ids.some((id) => !bases.has(id));
    const foreign = new Set(isMissing ? (await findBaseOwners(db, ids)).map(({ baseId }) => baseId) : []);
    return {
      results: knowledgeBaseIds.map((id) => {
        const row = bases.get(id);
        return { knowledgeBase: row && toBase(row), isForeign: !row && foreign.has(id) };
      }),
    };
  };
}
