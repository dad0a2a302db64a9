import type { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import type { OwnedTable } from "@parley/shared/db/owned-rows";
import { IDEMPOTENCY_BYTES, IDEMPOTENCY_TABLE } from "@parley/shared/idempotency/store";
import { deleteRowsOf, forgetOwner, forgetQueue } from "@parley/shared/jobs/forget-owner";
import type { Feature } from "@parley/shared/process/feature";
import { STORED_BYTES } from "@parley/shared/stored-bytes/room";
import type { KnowledgeContext } from "../context.ts";

/** Bases and documents come first: what makes and searches texts asks for them. */
const TABLES: readonly OwnedTable[] = [
  { name: "bases", key: ["base_id"] },
  { name: "documents", key: ["document_id"] },
  { name: "contents", key: ["document_id"] },
  { name: "content_parts", key: ["content_id", "part"], rows: 20 },
  { name: "texts", key: ["text_id", "part"], rows: 100 },
  { name: "chunks", key: ["chunk_id"] },
  { name: "chunk_words", key: ["chunk_id"] },
  { name: "embeddings", key: ["chunk_id", "model"], rows: 200 },
  { name: "base_words", key: ["base_id", "term"] },
  { name: "base_languages", key: ["base_id", "language"] },
  { name: "base_vectors", key: ["base_id"] },
  STORED_BYTES,
  IDEMPOTENCY_TABLE,
  IDEMPOTENCY_BYTES,
];

/** Deletes the bases of deleted owners with their documents. Agents that use them are deleted too. */
export function forgetOwners(ctx: KnowledgeContext): Feature<typeof KnowledgeServiceService> {
  return {
    handlers: { forgetOwner: forgetOwner(ctx) },
    queues: forgetQueue((ownerId, lease) => deleteRowsOf(ctx.db, ownerId, lease, TABLES)),
  };
}
