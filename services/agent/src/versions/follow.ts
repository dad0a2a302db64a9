import type { AgentKey } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Prompt } from "@parley/proto/parley/prompt/v1/prompt.ts";
import type { Sql } from "@parley/shared/db/database";
import { enqueueJob, type Job } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import { type Actor, actorText, SYSTEM } from "@parley/shared/rpc/actor";
import type { CallOrigin } from "@parley/shared/rpc/call";
import type { AgentContext } from "../context.ts";
import { withinAgentRoom } from "../room.ts";
import type { StoredReference } from "../store/agents.ts";
import {
  advanceAgents,
  type Followed,
  type Follower,
  findLatestVersions,
  listFollowedReferences,
  listFollowers,
  lockFollowers,
  type PromptFollowed,
} from "../store/followers.ts";
import { insertPublishes } from "../store/publishes.ts";
import { findTools, type ToolKey } from "../store/tools.ts";
import { insertVersions, type NewVersion } from "../store/versions.ts";
import { makeContent } from "./content.ts";

const QUEUE = "follow";
/** Agents that one transaction gives a new version. */
const BATCH = 100;
/** Agents that follow before the change is answered; a job does the rest. */
const AT_ONCE_MAX = 500;

type Context = Pick<AgentContext, "db" | "prompts" | "clock" | "room">;

interface Change {
  /** What new versions say that they are for. */
  note: string;
  actor: Actor;
}

interface PromptChange extends Change {
  /** Which of the prompts that agents follow are read: hundreds of others might be long. */
  of(promptName: string): boolean;
}

/** Prompts by reference, as they are now; those that do not exist are missing. */
type Resolved = ReadonlyMap<string, Prompt>;

/**
 * Gives each agent that follows a prompt a new version if that leads it to another text: at once to the first 500, by a job to the rest.
 * @throws ServiceError conflict when the owner has no room for them
 */
export async function followPrompt(
  ctx: Context,
  followed: { ownerId: string; promptName: string },
  actor: Actor,
  origin?: CallOrigin,
): Promise<void> {
  await followFrom(ctx, followed, "", { actor, origin, atOnceMax: AT_ONCE_MAX });
}

/** The same for one agent, whose references have just changed: the prompts may have changed since they were read. */
export function followPromptsOf(
  ctx: Context,
  { ownerId, agentId }: AgentKey,
  actor: Actor,
  origin?: CallOrigin,
): Promise<void> {
  return followPromptsIn(ctx, ownerId, [agentId], { actor, note: "A prompt changed", of: () => true }, origin);
}

/** Gives agents that use a tool a new version if it has changed for them. The owner's stored bytes must be locked. */
export async function followTool(tx: Sql, ctx: Context, { ownerId, toolId }: ToolKey, change: Change): Promise<void> {
  const followed = { ownerId, toolId };
  let after = "";
  for (let done = 0; done < AT_ONCE_MAX; done += BATCH) {
    const agentIds = await listFollowers(tx, followed, after, BATCH);
    await remake(tx, ctx, ownerId, agentIds, { ...change, resolved: new Map(), latest: null });
    after = agentIds.at(-1) ?? "";
    if (agentIds.length < BATCH) return;
  }
  await enqueue(tx, ctx, followed, after);
}

/** The queue that has the rest of many agents follow. */
export function followQueue(ctx: Context): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      run: async ({ ownerId, payload }: Job, lease) => {
        const { after, ...of } = payload as { after: string } & ({ promptName: string } | { toolId: string });
        await followFrom(ctx, { ownerId, ...of }, after, { actor: SYSTEM, lease });
      },
    },
  };
}

interface Pace {
  actor: Actor;
  origin?: CallOrigin | undefined;
  lease?: AbortSignal;
  atOnceMax?: number;
}

async function followFrom(
  ctx: Context,
  followed: Followed,
  from: string,
  { actor, origin, lease, atOnceMax = Number.POSITIVE_INFINITY }: Pace,
): Promise<void> {
  const { ownerId } = followed;
  const note = "toolId" in followed ? "A tool changed" : `Prompt ${followed.promptName} changed`;
  const of = (name: string) => "promptName" in followed && name === followed.promptName;
  let after = from;
  for (let done = 0; done < atOnceMax; done += BATCH) {
    const agentIds = await listFollowers(ctx.db, followed, after, BATCH);
    await followPromptsIn(ctx, ownerId, agentIds, { actor, note, of }, origin);
    lease?.throwIfAborted();
    after = agentIds.at(-1) ?? "";
    if (agentIds.length < BATCH) return;
  }
  await enqueue(ctx.db, ctx, followed, after);
}

async function enqueue(sql: Sql, { clock }: Context, { ownerId, ...of }: Followed, after: string): Promise<void> {
  const jobId = `follow ${"toolId" in of ? of.toolId : of.promptName}`;
  await enqueueJob(sql, { ownerId, jobId, queue: QUEUE, payload: { ...of, after }, dueAt: clock.now() });
}

/**
 * Gives no new version to an agent that has got one since the prompts were read, which may be of a later text: it reads them again for
 * it. It also does after each write: whoever writes last then wrote what the prompts are, however many follow at once.
 */
async function followPromptsIn(
  ctx: Context,
  ownerId: string,
  agentIds: readonly string[],
  change: PromptChange,
  origin: CallOrigin | undefined,
): Promise<void> {
  if (agentIds.length === 0) return;
  for (let again = 1; again > 0; ) {
    const latest = await findLatestVersions(ctx.db, ownerId, agentIds);
    const rows = await listFollowedReferences(ctx.db, ownerId, agentIds);
    const wanted = rows.filter(({ promptName }) => change.of(promptName));
    const resolved = await resolve(ctx, ownerId, wanted, origin);
    again = await ctx.db.begin(async (tx) => {
      return withinAgentRoom(tx, ctx, ownerId, () =>
        remake(tx, ctx, ownerId, agentIds, { ...change, resolved, latest }),
      );
    });
  }
}

/** The prompts that references without a version lead to now. */
async function resolve(
  { prompts }: Context,
  ownerId: string,
  rows: readonly PromptFollowed[],
  origin: CallOrigin | undefined,
): Promise<Resolved> {
  if (rows.length === 0) return new Map();
  const items = rows.map(({ promptName, promptLabel }) => ({
    ownerId,
    reference: { promptName, promptLabel: promptLabel ?? undefined },
  }));
  const { results } = await prompts.batchGetPrompts({ items, forPage: false }, { origin });
  return new Map(
    rows.flatMap((reference, at) => {
      const prompt = results[at]?.prompt;
      return prompt ? [[nameOf(reference), prompt] as const] : [];
    }),
  );
}

interface Read {
  resolved: Resolved;
  /** The agents' newest versions before the prompts were read; null if none were. */
  latest: ReadonlyMap<string, number> | null;
}

/** @returns how many of the agents have got a new version, here or since the prompts were read */
async function remake(
  tx: Sql,
  { clock }: Context,
  ownerId: string,
  agentIds: readonly string[],
  { resolved, latest, note, actor }: Change & Read,
): Promise<number> {
  const locked = await lockFollowers(tx, ownerId, agentIds);
  const followers = locked.filter(({ agentId, latestVersion }) => !latest || latest.get(agentId) === latestVersion);
  const overtaken = locked.length - followers.length;
  const toolIds = new Set(followers.flatMap(({ content }) => content.customTools.map(({ toolId }) => toolId)));
  const tools = await findTools(
    tx,
    [...toolIds].map((toolId) => ({ ownerId, toolId })),
  );
  const createdAt = clock.now();
  const createdBy = actorText(actor);
  const promptOf = (reference: StoredReference | null) =>
    reference && reference.promptVersion === null ? resolved.get(nameOf(reference)) : undefined;
  const versions = followers.flatMap((follower): (NewVersion & Pick<Follower, "publishing">)[] => {
    const { agentId, latestVersion, content, hash, publishing } = follower;
    const prompt = promptOf(content) ?? content.prompt;
    const analysisPrompt = promptOf(content.analysis) ?? content.analysisPrompt;
    const made = makeContent(content, { prompt, analysisPrompt, tools });
    if (made.hash === hash) return [];
    return [{ ownerId, agentId, agentVersion: latestVersion + 1, ...made, createdBy, note, createdAt, publishing }];
  });
  if (versions.length === 0) return overtaken;
  await insertVersions(tx, versions);
  await insertPublishes(
    tx,
    versions
      .filter(({ publishing }) => publishing === "auto")
      .map(({ agentId, agentVersion }) => ({
        ownerId,
        agentId,
        kind: "automatic",
        agentVersion,
        note,
        createdBy,
        createdAt,
      })),
  );
  await advanceAgents(
    tx,
    ownerId,
    versions.map(({ agentId }) => agentId),
  );
  return versions.length + overtaken;
}

function nameOf({ promptName, promptLabel }: Pick<StoredReference, keyof PromptFollowed>): string {
  return JSON.stringify([promptName, promptLabel]);
}
