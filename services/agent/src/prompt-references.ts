import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { enqueueJob, type Job } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { AgentContext } from "./context.ts";
import { findAgent, lockAgent } from "./store/agents.ts";

const QUEUE = "prompt-references";
/** Well beyond the longest that a change of an agent can take. */
const GRACE_MS = 60_000;
const RETRY_MS = [1_000, 5_000, 30_000, 120_000] as const;

/**
 * Promises, before an agent's references are touched, that they will be made to agree with the agent that is stored then,
 * whatever becomes of this process: a reference whose agent never appeared is let go, one that an agent no longer uses too.
 */
export async function promiseReferences(ctx: AgentContext, key: AgentKey): Promise<void> {
  const dueAt = new Date(ctx.clock.now().getTime() + GRACE_MS);
  await enqueueJob(ctx.db, { ...key, jobId: jobId(key), queue: QUEUE, payload: { agentId: key.agentId }, dueAt });
}

/** The promise is kept: for a change after which the references are known to be right. */
export async function keepPromise(sql: Sql, key: AgentKey): Promise<void> {
  await sql`delete from jobs where owner_id = ${key.ownerId} and job_id = ${jobId(key)}`;
}

/** Makes the prompt service's references of an agent those that the agent has; none when there is no such agent. */
export async function settleReferences(ctx: AgentContext, key: AgentKey): Promise<void> {
  await ctx.db.begin(async (tx) => {
    await lockAgent(tx, key.agentId);
    const agent = await findAgent(tx, key);
    const names = [agent?.promptName, agent?.analysis?.promptName].filter((name) => name != null);
    await ctx.prompts.setPromptReferences({
      ...key,
      agentName: agent?.agentName ?? "",
      promptNames: [...new Set(names)],
    });
    await keepPromise(tx, key);
  });
}

/** The same at once, so that a caller who looks finds it done; should it fail, the promised job does it. */
export async function settleReferencesNow(ctx: AgentContext, key: AgentKey, log: Logger): Promise<void> {
  try {
    await settleReferences(ctx, key);
  } catch (err) {
    log.warn({ err, agent_id: key.agentId }, "prompt references are left to the job");
  }
}

/** What keeps the promises of processes that died. */
export function referenceQueue(ctx: AgentContext): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      leaseMs: 30_000,
      retryDelayMs: (attempts) => RETRY_MS[attempts - 1] ?? 300_000,
      run: (job: Job) =>
        settleReferences(ctx, { ownerId: job.ownerId, agentId: (job.payload as { agentId: string }).agentId }),
    },
  };
}

function jobId(key: AgentKey): string {
  return `${QUEUE}:${key.agentId}`;
}
