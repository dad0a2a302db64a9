import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import { enqueueJob, type Job } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import type { AgentContext } from "./context.ts";
import { findAgent, lockAgent } from "./store/agents.ts";

const QUEUE = "prompt-references";
/** Well beyond the longest that a change of an agent can take. */
const GRACE_MS = 60_000;
const RETRY_MS = [1_000, 5_000, 30_000, 120_000] as const;

/** One change's promise: keeping it leaves those of other changes of the same agent standing. */
export interface ReferencePromise extends AgentKey {
  jobId: string;
}

/**
 * Promises, before an agent's references are touched, that they will be made to agree with the agent that is stored then,
 * whatever becomes of this process: a reference whose agent never appeared is let go, one that an agent no longer uses too.
 */
export async function promiseReferences(ctx: AgentContext, key: AgentKey): Promise<ReferencePromise> {
  const promise = { ...key, jobId: newId("job") };
  const dueAt = new Date(ctx.clock.now().getTime() + GRACE_MS);
  await enqueueJob(ctx.db, { ...promise, queue: QUEUE, payload: { agentId: key.agentId }, dueAt });
  return promise;
}

/** The promise is kept: for a change after which the references are known to be right. */
export async function keepPromise(sql: Sql, { ownerId, jobId }: ReferencePromise): Promise<void> {
  await sql`delete from jobs where owner_id = ${ownerId} and job_id = ${jobId}`;
}

/** Makes the prompt service's references of an agent those that the agent has; an agent that is gone has none. */
async function settleReferences(ctx: AgentContext, key: AgentKey): Promise<void> {
  await ctx.db.begin(async (tx) => {
    await lockAgent(tx, key.agentId);
    const agent = await findAgent(tx, key);
    const names = [agent?.promptName, agent?.analysis?.promptName].filter((name) => name != null);
    await ctx.prompts.setPromptReferences({
      ownerId: key.ownerId,
      agentId: key.agentId,
      agentName: agent?.agentName ?? "",
      promptNames: [...new Set(names)],
      agentGone: agent === null,
    });
  });
}

/** The same at once, so that a caller who looks finds it done; should it fail, the promised job does it. */
export async function settleReferencesNow(ctx: AgentContext, promise: ReferencePromise, log: Logger): Promise<void> {
  try {
    await settleReferences(ctx, promise);
    await keepPromise(ctx.db, promise);
  } catch (err) {
    log.warn({ err, agent_id: promise.agentId }, "prompt references are left to the job");
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
