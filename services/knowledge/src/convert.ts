import type { Chunk, Document, DocumentSet, KnowledgeBase } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import { DOCUMENT_STATUSES } from "@parley/shared/domain/api-names";
import type { ScoredChunk } from "./search/search.ts";
import type { CountedBase, ServedBase } from "./store/bases.ts";
import type { DocumentRow } from "./store/documents.ts";
import { UNKNOWN_LANGUAGE } from "./text/languages.ts";

export function toBase({ ownerId: _, baseId, ...row }: CountedBase): KnowledgeBase {
  return { ...row, ...toDocumentSet({ baseId, ...row }) };
}

export function toDocumentSet({ baseId, documentsHash }: ServedBase): DocumentSet {
  const hash = BigInt.asUintN(64, BigInt(documentsHash));
  return { knowledgeBaseId: baseId, documentsHash: hash.toString(16).padStart(16, "0") };
}

export function toDocument(row: DocumentRow): Document {
  return {
    documentId: row.documentId,
    knowledgeBaseId: row.baseId,
    name: row.name,
    status: DOCUMENT_STATUSES[row.status],
    error: row.error ?? undefined,
    mediaType: row.mediaType ?? undefined,
    language: row.language === UNKNOWN_LANGUAGE ? undefined : (row.language ?? undefined),
    bytes: row.bytes,
    characters: row.characters,
    chunkCount: row.chunkCount,
    embeddedChunks: row.embeddedChunks,
    url: row.url ?? undefined,
    refreshHours: row.refreshHours ?? undefined,
    refreshedAt: row.refreshedAt ?? undefined,
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

export function toChunk(chunk: ScoredChunk): Chunk {
  return {
    chunkId: chunk.chunkId,
    documentId: chunk.documentId,
    documentName: chunk.name,
    knowledgeBaseId: chunk.baseId,
    heading: chunk.heading,
    text: chunk.text,
    score: chunk.score,
    lexicalScore: chunk.lexicalScore,
    semanticScore: chunk.semanticScore ?? undefined,
  };
}
