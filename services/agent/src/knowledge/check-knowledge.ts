import { type AgentKnowledge, KnowledgeMode } from "@parley/proto/parley/agent/v1/agent.ts";
import type { ResolvedBase } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import { nameOf } from "@parley/shared/domain/api-names";
import { KNOWLEDGE_MODES, WHOLE_CHARACTERS_MAX } from "@parley/shared/domain/knowledge";
import { invalid, ServiceError } from "@parley/shared/errors";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { AgentContext } from "../context.ts";

const BASES_MAX = 5;
const CHUNKS_MAX = 50;
const CHARACTERS = { min: 500, max: 40_000 };

/**
 * Checks the knowledge bases that a request gives an agent.
 * @throws ServiceError invalid for what does not exist, stands twice or is too long, forbidden for what is another owner's
 */
export async function checkKnowledge(
  { knowledge }: Pick<AgentContext, "knowledge">,
  ownerId: string,
  given: readonly AgentKnowledge[],
  origin: CallOrigin,
): Promise<void> {
  if (given.length === 0) return;
  if (given.length > BASES_MAX) throw invalid("knowledge", `knowledge must have at most ${BASES_MAX} items`);
  given.forEach(checkUse);
  const knowledgeBaseIds = given.map((use) => use.knowledgeBaseId);
  const { results } = await knowledge.resolveKnowledgeBases(
    { ownerId, knowledgeBaseIds, withCharacters: given.some(isWhole) },
    { origin },
  );
  const bases = results.map(({ knowledgeBase, isForeign }, at) => {
    if (isForeign) throw new ServiceError("forbidden", "You do not have access to this knowledge base");
    const path = `knowledge.${at}.knowledge_base_id`;
    const id = knowledgeBaseIds[at];
    if (!knowledgeBase) throw invalid(path, `${path} must be one of your knowledge bases: there is no ${id}`);
    if (knowledgeBaseIds.indexOf(knowledgeBase.knowledgeBaseId) !== at)
      throw invalid(path, `${path} must not be repeated: ${id}`);
    return knowledgeBase;
  });
  checkWholeTexts(bases.filter((_, at) => given[at] && isWhole(given[at])));
}

function isWhole({ mode }: AgentKnowledge): boolean {
  return mode === KnowledgeMode.KNOWLEDGE_MODE_PROMPT;
}

function checkUse({ mode, maxChunks, maxCharacters, minScore = 0 }: AgentKnowledge, at: number): void {
  const path = `knowledge.${at}`;
  if (nameOf(KNOWLEDGE_MODES, mode) === undefined)
    throw invalid(`${path}.mode`, `${path}.mode must be tool, always or prompt`);
  if (!isWithin(maxChunks, 1, CHUNKS_MAX))
    throw invalid(`${path}.max_chunks`, `${path}.max_chunks must be 1 to ${CHUNKS_MAX}`);
  if (!isWithin(maxCharacters, CHARACTERS.min, CHARACTERS.max))
    throw invalid(`${path}.max_characters`, `${path}.max_characters must be ${CHARACTERS.min} to ${CHARACTERS.max}`);
  if (!isWithin(minScore, 0, 1)) throw invalid(`${path}.min_score`, `${path}.min_score must be 0 to 1`);
}

function isWithin(value: number, min: number, max: number): boolean {
  return value >= min && value <= max;
}

function checkWholeTexts(bases: readonly ResolvedBase[]): void {
  const characters = bases.reduce((sum, base) => sum + base.characters, 0);
  if (characters <= WHOLE_CHARACTERS_MAX) return;
  throw invalid(
    "knowledge",
    `The knowledge bases with mode prompt have ${characters} characters together, and at most ${WHOLE_CHARACTERS_MAX} fit in a prompt: use mode tool or always`,
  );
}
