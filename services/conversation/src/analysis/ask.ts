import type { AgentRuntime } from "@parley/proto/parley/agent/v1/agent.ts";
import { enqueueJobs, type NewJob } from "@parley/shared/jobs/store";
import { isGone } from "../agents/agents.ts";
import type { ConversationContext } from "../context.ts";
import { keptOf } from "../store/agent-path.ts";
import type { ConversationRow } from "../store/conversations.ts";
import { awaitAnalyses } from "../store/events/owner-events.ts";
import type { SessionKey } from "../store/session-key.ts";

export const ANALYSIS_QUEUE = "analyze-conversations";

/** How long after a conversation's end its event waits for the analysis. */
const WAIT_MS = 60_000;

interface EndedConversation {
  ownerId: string;
  agentId: string;
  agentVersion: number | null;
  /** Whether there is anything to analyze: a conversation in which only the agent spoke is skipped. */
  hasSaid: boolean;
}

export interface AnalysisPayload {
  conversationId: string;
  /** Whether the owner asked for it, after the conversation's end. */
  isAgain?: boolean;
}

/** The job that analyzes one conversation; its id makes enqueueing idempotent. */
export function analysisJob({ ownerId, conversationId }: SessionKey, now: Date, isAgain = false): NewJob {
  const payload: AnalysisPayload = { conversationId, ...(isAgain && { isAgain }) };
  return { ownerId, jobId: `analyze-${conversationId}`, queue: ANALYSIS_QUEUE, payload, dueAt: now };
}

/**
 * The agent whose settings an analysis uses: as the conversation began with it or, when the owner asks for an analysis
 * after changing them, in its newest version. A test is always of its version.
 */
export function analyzingAgent(
  { agents }: Pick<ConversationContext, "agents">,
  row: ConversationRow,
  isAgain: boolean,
): Promise<AgentRuntime> {
  const { ownerId, agentId, draftId, testRunId } = row;
  return isAgain && draftId === null && testRunId === null
    ? agents.choose(ownerId, agentId, { latestVersion: true, caller: row })
    : agents.get(ownerId, agentId, keptOf(row));
}

/**
 * Returns the ended conversations that need an analysis. If the agent cannot be read now, its conversation is included:
 * the job checks again, and releases the event when there is nothing to wait for.
 */
export async function wantAnalysis<E extends EndedConversation>(
  ctx: ConversationContext,
  ended: readonly E[],
): Promise<E[]> {
  const said = ended.filter((each) => each.hasSaid);
  const byVersion = Map.groupBy(said, ({ ownerId, agentId, agentVersion }) => `${ownerId} ${agentId} ${agentVersion}`);
  const wanting = await Promise.all(
    [...byVersion.values()].map(async (group) => ((await isAnalyzed(ctx, group[0])) ? group : [])),
  );
  return wanting.flat();
}

async function isAnalyzed(ctx: ConversationContext, ended: EndedConversation | undefined): Promise<boolean> {
  if (!ended) return false;
  try {
    const { ownerId, agentId, agentVersion } = ended;
    const agent = await ctx.agents.get(ownerId, agentId, { agentVersion, draftId: null });
    return agent.analysis?.enabled ?? false;
  } catch (error) {
    return !isGone(error);
  }
}

/** Enqueues the analyses of ended conversations and makes their events wait for them. */
export async function askForAnalyses({ db, clock }: ConversationContext, keys: readonly SessionKey[]): Promise<void> {
  if (keys.length === 0) return;
  const now = clock.now();
  await db.begin(async (tx) => {
    await enqueueJobs(
      tx,
      keys.map((key) => analysisJob(key, now)),
    );
    await awaitAnalyses(tx, keys, WAIT_MS);
  });
}
