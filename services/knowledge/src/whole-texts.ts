import type {
  GatherKnowledgeResponse,
  GatherKnowledgeResponse_WholeText as WholeText,
} from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { codePoints } from "@parley/shared/text/length";
import { type DocumentWithText, listDocumentsWithText } from "./store/documents.ts";
import { findFirstParts } from "./store/texts.ts";

/** More are not read: each takes a heading of its own. */
const DOCUMENTS_MAX = 1_000;

/**
 * The whole texts of bases in this order, oldest document first, cut where they are longer than `charactersMax` together: less than a
 * part of one text.
 */
export async function readWholeTexts(
  sql: Sql,
  ownerId: string,
  baseIds: readonly string[],
  charactersMax: number,
): Promise<Pick<GatherKnowledgeResponse, "texts" | "truncated">> {
  if (baseIds.length === 0) return { texts: [], truncated: false };
  const documents: DocumentWithText[] = [];
  for (const baseId of baseIds)
    documents.push(...(await listDocumentsWithText(sql, { ownerId, baseId }, DOCUMENTS_MAX)));
  const wanted = firstUpTo(documents, charactersMax);
  const parts = await findFirstParts(
    sql,
    ownerId,
    wanted.map(({ textId }) => textId),
  );
  const texts: WholeText[] = [];
  let left = charactersMax;
  for (const { documentId, name, baseId, textId } of wanted) {
    // It may have been replaced in the meantime.
    const text = firstCharacters(parts.get(textId) ?? "", left);
    left -= codePoints(text);
    texts.push({ documentId, documentName: name, knowledgeBaseId: baseId, text });
  }
  const total = documents.reduce((sum, { characters }) => sum + characters, 0);
  return { texts, truncated: total > charactersMax || documents.length >= DOCUMENTS_MAX };
}

/** The first documents that have so many characters together. */
function firstUpTo(documents: readonly DocumentWithText[], characters: number): DocumentWithText[] {
  let left = characters;
  return documents.filter((document) => {
    const isWanted = left > 0;
    left -= document.characters;
    return isWanted;
  });
}

function firstCharacters(text: string, max: number): string {
  return codePoints(text) <= max ? text : [...text].slice(0, max).join("");
}
