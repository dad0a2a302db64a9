import { type AgentRuntime, KnowledgeMode } from "@parley/proto/parley/agent/v1/agent.ts";
import type { KnowledgeUse } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import type { Logger } from "@parley/shared/log";
import type { ReplyKnowledge } from "../store/reply-knowledge.ts";
import type { Tool, ToolChannel } from "../tools/tool.ts";
import type { Knowledge } from "./knowledge.ts";
import { foundBefore, sourcesOf, wholeTexts } from "./passages.ts";
import { searchTool } from "./search-tool.ts";

/** What an agent knows in a turn. */
export interface TurnKnowledge {
  /** For the end of its prompt; may be empty. */
  prompt: string;
  /** To stand before the user's message, and in no later turn; may be empty. */
  found: string;
  tools: readonly Tool[];
  /** Null if nothing was asked. */
  record: ReplyKnowledge | null;
}

const { KNOWLEDGE_MODE_TOOL: TOOL, KNOWLEDGE_MODE_ALWAYS: ALWAYS, KNOWLEDGE_MODE_PROMPT: WHOLE } = KnowledgeMode;
const NONE: TurnKnowledge = { prompt: "", found: "", tools: [], record: null };

interface Knowing {
  ownerId: string;
  agent: Pick<AgentRuntime, "knowledge">;
  channel: ToolChannel;
  /** What the user said; null for nothing that could be searched for. */
  message: string | null;
}

/** Asks the knowledge service for what an agent is to know in a turn, in one call. Never fails. */
export async function turnKnowledge(
  knowledge: Knowledge,
  { ownerId, agent, channel, message }: Knowing,
  log: Logger,
): Promise<TurnKnowledge> {
  if (agent.knowledge.length === 0) return NONE;
  const uses = [...usesOf(agent, WHOLE), ...(message === null ? [] : usesOf(agent, ALWAYS))];
  const [tools, gathered] = await Promise.all([
    searchTools(knowledge, { ownerId, channel }, usesOf(agent, TOOL)),
    uses.length === 0 ? null : knowledge.gather({ ownerId, uses, query: message ?? "", channel }, log),
  ]);
  if (!gathered) return { ...NONE, tools };
  const { chunks, texts, known } = gathered;
  const record = { ...known, sources: sourcesOf(gathered) };
  return { prompt: wholeTexts(texts), found: foundBefore(chunks), tools, record };
}

/**
 * The same for a call whose runtime asks the model itself: there, bases that are to be searched for each message are searched with the
 * tool, because no message passes through here before the model has heard it.
 */
export async function runtimeKnowledge(
  knowledge: Knowledge,
  { ownerId, agent }: Omit<Knowing, "channel" | "message">,
  log: Logger,
): Promise<Pick<TurnKnowledge, "prompt" | "tools">> {
  if (agent.knowledge.length === 0) return NONE;
  const channel = "call";
  const whole = usesOf(agent, WHOLE);
  const [tools, gathered] = await Promise.all([
    searchTools(knowledge, { ownerId, channel }, usesOf(agent, TOOL, ALWAYS)),
    whole.length === 0 ? null : knowledge.gather({ ownerId, uses: whole, query: "", channel }, log),
  ]);
  return { prompt: wholeTexts(gathered?.texts ?? []), tools };
}

/** The tool of such a call, to be run. */
export function runtimeSearch(knowledge: Knowledge, agent: Pick<AgentRuntime, "knowledge">): readonly Tool[] {
  const uses = usesOf(agent, TOOL, ALWAYS);
  return uses.length === 0 ? [] : [searchTool(knowledge, uses, [])];
}

async function searchTools(
  knowledge: Knowledge,
  where: Pick<Knowing, "ownerId" | "channel">,
  uses: readonly KnowledgeUse[],
): Promise<Tool[]> {
  if (uses.length === 0) return [];
  const ids = uses.map(({ knowledgeBaseId }) => knowledgeBaseId);
  return [searchTool(knowledge, uses, await knowledge.basesOf({ ...where, ids }))];
}

function usesOf({ knowledge }: Pick<AgentRuntime, "knowledge">, ...modes: readonly KnowledgeMode[]): KnowledgeUse[] {
  return knowledge
    .filter(({ mode }) => modes.includes(mode))
    .map(({ mode, knowledgeBaseId, maxChunks, maxCharacters, minScore }) => ({
      ...{ knowledgeBaseId, whole: mode === WHOLE, maxChunks, maxCharacters, minScore },
    }));
}
