import type { DocumentSet } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import type { KNOWLEDGE_STATUSES } from "@parley/shared/domain/api-names";
import { lastSets } from "@parley/shared/domain/knowledge";

/** What the model of a reply was given from the agent's knowledge bases, as it is stored. */
export interface ReplyKnowledge {
  /** Of several searches, the worst. */
  status: KnowledgeStatus;
  durationMs: number;
  /** Whether whole texts were cut. */
  truncated: boolean;
  /** At most `SOURCES_MAX`, each chunk once. */
  sources: readonly KnowledgeSource[];
  /** The documents of each base that answered, at its last answer. */
  documentSets: readonly DocumentSet[];
}

export type KnowledgeStatus = keyof typeof KNOWLEDGE_STATUSES;

export interface KnowledgeSource {
  knowledgeBaseId: string;
  documentId: string;
  name: string;
  /** Null, as the score, of a document that the model was given as a whole. */
  chunkId: string | null;
  score: number | null;
}

const SOURCES_MAX = 100;
const WORST_LAST: readonly KnowledgeStatus[] = ["ok", "partial", "timed_out", "unavailable"];

/** All that a model was given of two searches. */
export function bothKnown(first: ReplyKnowledge | null, second: ReplyKnowledge): ReplyKnowledge {
  if (first === null) return { ...second, sources: second.sources.slice(0, SOURCES_MAX) };
  const known = new Set(first.sources.map(idOf));
  const added = second.sources.filter((source) => !known.has(idOf(source)));
  const isWorse = WORST_LAST.indexOf(second.status) > WORST_LAST.indexOf(first.status);
  return {
    status: isWorse ? second.status : first.status,
    durationMs: first.durationMs + second.durationMs,
    truncated: first.truncated || second.truncated,
    sources: [...first.sources, ...added].slice(0, SOURCES_MAX),
    documentSets: lastSets([...first.documentSets, ...second.documentSets]),
  };
}

function idOf({ documentId, chunkId }: KnowledgeSource): string {
  return chunkId ?? documentId;
}
