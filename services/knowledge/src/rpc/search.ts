import type { Handler, KnowledgeContext } from "../context.ts";
import { toChunk } from "../convert.ts";
import { requireBase } from "../read-rows.ts";
import { checkSearch } from "../rules.ts";
import type { Searching } from "../searching.ts";

/** As long as a turn of a chat has. */
const WITHIN_MS = 2_000;

export function search({ db }: KnowledgeContext, searching: Searching): Handler<"search"> {
  return async ({ ownerId, knowledgeBaseId, query, maxChunks, language }, { signal }) => {
    checkSearch(query, maxChunks, language);
    await requireBase(db, { ownerId, baseId: knowledgeBaseId });
    const wanted = { ownerId, baseIds: [knowledgeBaseId], query, maxChunks, language, withinMs: WITHIN_MS, signal };
    const { chunks } = await searching(wanted);
    return { chunks: chunks.map(toChunk) };
  };
}
