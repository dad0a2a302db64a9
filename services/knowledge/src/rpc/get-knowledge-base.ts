import type { Handler, KnowledgeContext } from "../context.ts";
import { toBase } from "../convert.ts";
import { getBase } from "../read-rows.ts";

export function getKnowledgeBase({ db }: KnowledgeContext): Handler<"getKnowledgeBase"> {
  return async ({ ownerId, knowledgeBaseId }) => ({
    knowledgeBase: toBase(await getBase(db, { ownerId, baseId: knowledgeBaseId })),
  });
}
