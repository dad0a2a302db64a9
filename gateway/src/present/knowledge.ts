import type { DocumentReply } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { Chunk, Document, KnowledgeBase } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import { DOCUMENT_STATUSES, nameOf } from "@parley/shared/domain/api-names";
import { isoTime } from "@parley/shared/domain/present/time";

/** A knowledge base as the API shows it (docs/api-reference.md#knowledge). */
export function presentKnowledgeBase(base: KnowledgeBase) {
  return {
    id: base.knowledgeBaseId,
    name: base.name,
    description: base.description,
    document_count: base.documentCount,
    chunk_count: base.chunkCount,
    embedded_chunks: base.embeddedChunks,
    bytes: base.bytes,
    characters: base.characters,
    documents_hash: base.documentsHash,
    created_at: isoTime(base.createdAt),
    updated_at: isoTime(base.updatedAt),
  };
}

export function presentDocumentReply(reply: DocumentReply) {
  return {
    conversation_id: reply.conversationId,
    agent_id: reply.agentId,
    seq: reply.seq,
    beginning: reply.beginning,
    created_at: isoTime(reply.createdAt),
  };
}

export function presentDocument(document: Document) {
  return {
    id: document.documentId,
    knowledge_base_id: document.knowledgeBaseId,
    name: document.name,
    status: nameOf(DOCUMENT_STATUSES, document.status),
    error: document.error ?? null,
    media_type: document.mediaType ?? null,
    language: document.language ?? null,
    bytes: document.bytes,
    characters: document.characters,
    chunk_count: document.chunkCount,
    embedded_chunks: document.embeddedChunks,
    url: document.url ?? null,
    refresh_hours: document.refreshHours ?? null,
    refreshed_at: isoTime(document.refreshedAt) ?? null,
    created_at: isoTime(document.createdAt),
    updated_at: isoTime(document.updatedAt),
  };
}

export function presentChunk(chunk: Chunk) {
  return {
    chunk_id: chunk.chunkId,
    document_id: chunk.documentId,
    name: chunk.documentName,
    heading: chunk.heading,
    text: chunk.text,
    score: chunk.score,
    lexical_score: chunk.lexicalScore,
    semantic_score: chunk.semanticScore ?? null,
  };
}
