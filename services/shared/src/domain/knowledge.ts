import { KnowledgeMode } from "@parley/proto/parley/agent/v1/agent.ts";
import type { DocumentSet } from "@parley/proto/parley/knowledge/v1/knowledge.ts";
import { lowerNamed } from "./named.ts";

/** Characters of the bases that an agent's prompt has whole, of all of them together. */
export const WHOLE_CHARACTERS_MAX = 40_000;

/** The names of protocol numbers in the API. */
export const KNOWLEDGE_MODES = lowerNamed(KnowledgeMode, "KNOWLEDGE_MODE");

/** The last set of each knowledge base. */
export function lastSets(sets: readonly DocumentSet[]): DocumentSet[] {
  return [...new Map(sets.map((set) => [set.knowledgeBaseId, set])).values()];
}
