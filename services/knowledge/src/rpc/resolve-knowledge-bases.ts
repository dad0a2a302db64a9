import { isId } from "@parley/shared/ids";
import type { Handler, KnowledgeContext } from "../context.ts";
import { findBaseOwners, listNamedBases } from "../store/bases.ts";

export function resolveKnowledgeBases({ db }: KnowledgeContext): Handler<"resolveKnowledgeBases"> {
  return async ({ ownerId, knowledgeBaseIds, withCharacters }) => {
    const baseIds = knowledgeBaseIds.filter((id) => isId("kb", id));
    const rows = await listNamedBases(db, { ownerId, baseIds, withCharacters });
    const bases = new Map(rows.map((row) => [row.baseId, row]));
    const isMissing = baseIds.some((id) => !bases.has(id));
    const foreign = new Set(isMissing ? (await findBaseOwners(db, baseIds)).map(({ baseId }) => baseId) : []);
    return {
      results: knowledgeBaseIds.map((id) => {
        const row = bases.get(id);
        return { knowledgeBase: row && { knowledgeBaseId: id, ...row }, isForeign: !row && foreign.has(id) };
      }),
    };
  };
}
