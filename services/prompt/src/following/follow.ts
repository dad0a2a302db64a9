import type { Sql } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import { enqueueJob, type Job } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Call } from "@parley/shared/rpc/call";
import type { PromptContext } from "../context.ts";
import { isUsed, type Used } from "../store/references.ts";

const QUEUE = "follow-prompt";
/** How long a change waits for agents to follow, twice: a replica may hang, and the gateway waits 5 s for the change. */
const NOW_WITHIN_MS = 2_000;
/** After this, the process that was to have them follow has died. */
const GRACE_MS = 10_000;
const JOB_WITHIN_MS = 20_000;

interface FollowPromise {
  ownerId: string;
  promptName: string;
  jobId: string;
}

/**
 * Promises, in the transaction of a change, that the agents that use what changes will follow. The prompt must be locked, so that an
 * agent that begins to use it either is known or acquires it as it is after the change.
 */
type PromiseFollowing = (tx: Sql, changed: Used) => Promise<void>;

/**
 * Runs a change and answers once agents have followed it, so that the next conversation meets it. If they cannot follow now, a job has
 * them follow.
 */
export async function withFollowers<R>(
  ctx: PromptContext,
  call: Call,
  change: (promise: PromiseFollowing) => Promise<R>,
): Promise<R> {
  const promised: FollowPromise[] = [];
  const result = await change(async (tx, changed) => {
    const dueAt = new Date(ctx.clock.now().getTime() + GRACE_MS);
    // Each change has a job of its own, because it may delete no other's.
    if (await isUsed(tx, changed)) promised.push(await enqueue(tx, { ...changed, jobId: newId("job") }, dueAt));
  });
  // What is not kept now is kept when it is due.
  for (const promise of promised)
    await keepNow(ctx, promise, call).catch((err) =>
      call.log.warn({ err }, "a promise that agents follow was not kept"),
    );
  return result;
}

/** For a change that an agent makes to its own prompt: other agents that use it follow in the background. */
export async function promiseOthers(tx: Sql, { clock }: Pick<PromptContext, "clock">, changed: Used): Promise<void> {
  if (await isUsed(tx, changed)) await enqueue(tx, { ...changed, jobId: laterId(changed) }, clock.now());
}

/** However many changes of a prompt wait for agents to follow, it is one job. */
function laterId({ promptName }: Used): string {
  return `${QUEUE} ${promptName}`;
}

/** The queue that keeps the promises that were not kept at once. */
export function followQueue({ agents }: Pick<PromptContext, "agents">): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 4,
      run: async ({ ownerId, payload }: Job) => {
        const { promptName } = payload as { promptName: string };
        await agents.followPrompt({ ownerId, promptName }, { timeoutMs: JOB_WITHIN_MS });
      },
    },
  };
}

async function keepNow({ db, agents, clock }: PromptContext, promise: FollowPromise, call: Call): Promise<void> {
  const { ownerId, promptName, jobId } = promise;
  const follow = () => agents.followPrompt({ ownerId, promptName }, { origin: call, timeoutMs: NOW_WITHIN_MS });
  try {
    await follow().catch(follow);
  } catch (err) {
    call.log.warn({ err, owner_id: ownerId }, "agents could not follow a prompt now; a job will have them follow");
    await enqueue(db, { ...promise, jobId: laterId(promise) }, clock.now());
  }
  await db`delete from jobs where owner_id = ${ownerId} and job_id = ${jobId}`;
}

async function enqueue(sql: Sql, { ownerId, promptName, jobId }: FollowPromise, dueAt: Date): Promise<FollowPromise> {
  await enqueueJob(sql, { ownerId, jobId, queue: QUEUE, payload: { promptName }, dueAt });
  return { ownerId, promptName, jobId };
}
