import type { Chunk } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import type { GatherKnowledgeResponse, KnowledgeUse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { WHOLE_CHARACTERS_MAX } from "@parley/shared/domain/knowledge";
import { invalid } from "@parley/shared/errors";
import { codePoints } from "@parley/shared/text/length";
import type { Handler, KnowledgeContext } from "../context.ts";
import { toChunk, toDocumentSet } from "../convert.ts";
import { QUERY_MAX } from "../rules.ts";
import type { Searching } from "../searching.ts";
import { listServedBases } from "../store/bases.ts";
import { readWholeTexts } from "../whole-texts.ts";

const USES_MAX = 5;

/** Each base is searched by itself, because each has limits of its own. */
export function gatherKnowledge({ db }: KnowledgeContext, searching: Searching): Handler<"gatherKnowledge"> {
  return async ({ ownerId, uses, query, language, wholeCharactersMax, withinMs }, { signal }) => {
    if (uses.length > USES_MAX) throw invalid("uses", `uses must have at most ${USES_MAX} items`);
    const ids = uses.map(({ knowledgeBaseId }) => knowledgeBaseId);
    const bases = await listServedBases(db, ownerId, ids);
    const existing = new Set(bases.map(({ baseId }) => baseId));
    const used = uses.filter(({ knowledgeBaseId }) => existing.has(knowledgeBaseId));
    const asked = query.slice(-QUERY_MAX).replaceAll("\0", " ");
    const wholeIds = used.filter(({ whole }) => whole).map(({ knowledgeBaseId }) => knowledgeBaseId);
    const [{ answered, ...found }, whole] = await Promise.all([
      searchAll(
        used.filter((use) => !use.whole && asked.trim() !== ""),
        ({ knowledgeBaseId, maxChunks, minScore }) =>
          searching({
            ...{ ownerId, baseIds: [knowledgeBaseId], query: asked, maxChunks, minScore, language, withinMs, signal },
          }),
      ),
      readWholeTexts(db, ownerId, wholeIds, wholeCharactersMax ?? WHOLE_CHARACTERS_MAX),
    ]);
    const given = new Set([...answered, ...wholeIds]);
    return { ...found, ...whole, documentSets: bases.filter(({ baseId }) => given.has(baseId)).map(toDocumentSet) };
  };
}

interface Found extends Pick<GatherKnowledgeResponse, "chunks" | "partial"> {
  /** The bases whose searches did not fail. */
  answered: string[];
}

/** @throws what the first search throws if none answers */
async function searchAll(
  uses: readonly KnowledgeUse[],
  searchOne: (use: KnowledgeUse) => ReturnType<Searching>,
): Promise<Found> {
  const answers = await Promise.allSettled(uses.map(searchOne));
  const [failed] = answers.filter((answer) => answer.status === "rejected");
  const found = answers.flatMap((answer, at) => {
    const use = uses[at];
    return answer.status === "fulfilled" && use ? [{ use, answer: answer.value }] : [];
  });
  if (failed && found.length === 0) throw failed.reason;
  return {
    answered: found.map(({ use }) => use.knowledgeBaseId),
    chunks: found.flatMap(({ use, answer }) => within(answer.chunks.map(toChunk), use.maxCharacters)),
    partial: failed !== undefined || found.some(({ answer }) => answer.semantic === "missed"),
  };
}

/** The best chunks that fit. */
function within(chunks: readonly Chunk[], charactersMax: number): Chunk[] {
  let left = charactersMax;
  const end = chunks.findIndex(({ text }) => {
    left -= codePoints(text);
    return left < 0;
  });
  return end < 0 ? [...chunks] : chunks.slice(0, end);
}
