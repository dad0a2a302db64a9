import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { PromptReference } from "@parley/proto/parley/prompt/v1/prompt.ts";
import type { Sql } from "@parley/shared/db/database";
import { newId } from "@parley/shared/ids";
import { enqueueJob, type Job } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import { SYSTEM } from "@parley/shared/rpc/actor";
import type { Call } from "@parley/shared/rpc/call";
import type { AgentContext } from "../context.ts";
import { toReference } from "../convert.ts";
import { findAgent } from "../store/agents.ts";
import { listContentsInUse } from "../store/versions.ts";
import { followPromptsOf } from "../versions/follow.ts";
import { type HeldClaim, withClaim } from "./claim.ts";

const QUEUE = "prompt-references";
/** Well above the longest that a change of an agent can take. */
const GRACE_MS = 60_000;
/** Pause while another change of the same agent is running. */
const WAIT_MS = 20_000;

/** The promise of one change; keeping it does not affect the promises of other changes of the agent. */
export interface ReferencePromise extends AgentKey {
  jobId: string;
}

/**
 * Promises, before an agent's references are touched, that they will be made to match the stored agent, whatever
 * happens to this process. References are removed if the agent was never stored or no longer uses them.
 */
export async function promiseReferences(ctx: AgentContext, key: AgentKey): Promise<ReferencePromise> {
  const promise = { ...key, jobId: newId("job") };
  const dueAt = new Date(ctx.clock.now().getTime() + GRACE_MS);
  await enqueueJob(ctx.db, { ...promise, queue: QUEUE, payload: { agentId: key.agentId }, dueAt });
  return promise;
}

/** Keeps the promise, after a change that left the references correct. */
export async function keepPromise(sql: Sql, { ownerId, jobId }: ReferencePromise): Promise<void> {
  await sql`delete from jobs where owner_id = ${ownerId} and job_id = ${jobId}`;
}

/** Runs one change of an agent and its prompt references at a time, including its creation. */
export function withReferences<T>(
  ctx: AgentContext,
  { ownerId, agentId }: AgentKey,
  gone: AbortSignal,
  work: (held: HeldClaim) => Promise<T>,
): Promise<T> {
  return withClaim(ctx, { ownerId, claim: `agent ${agentId}` }, gone, work);
}

/** Makes the prompt service's references match the agent's, and the agent follow its prompts; one that is gone has none. */
async function settleReferences(ctx: AgentContext, { ownerId, agentId }: AgentKey, gone: AbortSignal): Promise<void> {
  const waiting = AbortSignal.any([gone, AbortSignal.timeout(WAIT_MS)]);
  const isThere = await withReferences(ctx, { ownerId, agentId }, waiting, (held) =>
    tellReferences(ctx, { ownerId, agentId }, held, []),
  );
  if (isThere) await followPromptsOf(ctx, { ownerId, agentId }, SYSTEM);
}

/** Tells the prompt service what an agent refers to. @param further versions that are about to be in use @returns whether there is the agent */
export async function tellReferences(
  ctx: AgentContext,
  { ownerId, agentId }: AgentKey,
  { revision }: HeldClaim,
  further: readonly number[],
): Promise<boolean> {
  const agent = await findAgent(ctx.db, { ownerId, agentId });
  const references = agent ? await referencesInUse(ctx, agent, further) : [];
  const agentName = agent?.agentName ?? "";
  await ctx.prompts.setPromptReferences({
    ownerId,
    agentId,
    agentName,
    references,
    agentGone: agent === null,
    revision,
  });
  return agent !== null;
}

/** The references of all versions that conversations may get, and of the newest. */
async function referencesInUse(
  { db }: AgentContext,
  key: AgentKey,
  further: readonly number[],
): Promise<PromptReference[]> {
  const contents = await listContentsInUse(db, key, further);
  return contents
    .flatMap((content) => [content, content.analysis])
    .flatMap((refers) => (refers && toReference(refers)) ?? []);
}

/** Does the same at once, so that the caller sees the result; if it fails, the promised job does it. */
export async function settleReferencesNow(ctx: AgentContext, promise: ReferencePromise, call: Call): Promise<void> {
  try {
    await settleReferences(ctx, promise, call.signal);
    await keepPromise(ctx.db, promise);
  } catch (err) {
    call.log.warn({ err, agent_id: promise.agentId }, "prompt references could not be settled now; a job will do it");
  }
}

/**
 * Runs one change of an agent's prompt references at a time, and settles them afterwards: also those of a change that was refused after it
 * had told of them.
 * @param work promises, before it touches them, that they will be settled
 */
export async function withSettledReferences<T>(
  ctx: AgentContext,
  { ownerId, agentId }: AgentKey,
  call: Call,
  work: (held: HeldClaim, promise: () => Promise<void>) => Promise<T>,
): Promise<T> {
  let promised: ReferencePromise | null = null;
  const promise = async () => {
    promised ??= await promiseReferences(ctx, { ownerId, agentId });
  };
  try {
    return await withReferences(ctx, { ownerId, agentId }, call.signal, (held) => work(held, promise));
  } finally {
    if (promised) await settleReferencesNow(ctx, promised, call);
  }
}

/** The queue that keeps the promises of processes that died. */
export function referenceQueue(ctx: AgentContext): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      run: ({ ownerId, payload }: Job, lease) =>
        settleReferences(ctx, { ownerId, agentId: (payload as { agentId: string }).agentId }, lease),
    },
  };
}
