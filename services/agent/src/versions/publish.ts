import type { AgentPublish, Publishing } from "@parley/proto/parley/agent/v1/agent.ts";
import type { AgentKey, PublishOverride } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { PUBLISHINGS } from "@parley/shared/domain/api-names";
import { invalid, notFound, ServiceError } from "@parley/shared/errors";
import { type IdempotentRequest, runPrepared } from "@parley/shared/idempotency/run";
import { actorText } from "@parley/shared/rpc/actor";
import type { Call } from "@parley/shared/rpc/call";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import { later } from "../changed-agent.ts";
import type { AgentContext } from "../context.ts";
import { requireClaim } from "../prompts/claim.ts";
import { tellReferences, withSettledReferences } from "../prompts/prompt-references.ts";
import { checkAgentId, getAgentRow, getLockedAgentRow, readVersions } from "../read-agents.ts";
import { type AgentRow, updateAgentRow } from "../store/agents.ts";
import { insertPublishes, type NewPublish, type PublishRow } from "../store/publishes.ts";
import type { AgentVersion } from "../store/versions.ts";
import { requirePassed } from "../tests/gate.ts";
import { goneElsewhere, goneHere } from "./gone.ts";

interface Published {
  publish: AgentPublish | undefined;
  publishing: Publishing;
  becameManual: boolean;
}

/** What a change of what conversations get leads to. */
interface Outcome {
  state: Pick<AgentRow, "publishedVersion" | "publishedNumbers" | "traffic">;
  entry: Pick<NewPublish, "kind" | "agentVersion" | "split">;
}

interface PublishRequest extends Omit<IdempotentRequest<Published>, "call"> {
  agentId: string;
  note?: string | undefined;
  override: PublishOverride | undefined;
  /** The field that names a version, unless the address does. */
  fieldOf?(at: number): string;
}

/**
 * Has new conversations of an agent get these versions.
 * @param decide returns what this does to the agent
 * @throws ServiceError not_found for a version that there is not, conflict that lists what they need and is gone, or the required
 *   tests that have not passed
 */
export async function publish(
  ctx: AgentContext,
  request: PublishRequest,
  numbers: readonly number[],
  call: Call,
  decide: (row: AgentRow, versions: readonly AgentVersion[]) => Outcome,
): Promise<Published> {
  const { ownerId, agentId } = request;
  checkAgentId(agentId);
  if (request.override && request.override.reason.trim() === "")
    throw invalid("override.reason", "override.reason must say why");
  const key = { ownerId, agentId };
  return withSettledReferences(ctx, key, call, (held, promise) =>
    runPrepared(
      ctx,
      { ...request, call },
      {
        prepare: async () => {
          await getAgentRow(ctx.db, key);
          await promise();
          // Before they are looked for, so that no prompt goes in the meantime.
          await tellReferences(ctx, key, held, numbers);
          const versions = await getVersions(ctx.db, request, numbers);
          return Promise.all(versions.map((version) => goneElsewhere(ctx, version, call)));
        },
        write: async (tx, gone) => {
          await requireClaim(tx, held);
          await lockStoredBytes(tx, ownerId);
          const row = await getLockedAgentRow(tx, key);
          const versions = await getVersions(tx, request, numbers);
          await requirePublishable(tx, row, versions, gone);
          if (!request.override) await requirePassed(tx, key, versions, ctx.clock.now());
          return store(tx, ctx, row, decide(row, versions), { ...request, numbers, call });
        },
      },
    ),
  );
}

/** What new conversations require of versions. */
async function requirePublishable(
  tx: Sql,
  { publishedNumbers }: AgentRow,
  versions: readonly AgentVersion[],
  goneOf: readonly (readonly string[])[],
): Promise<void> {
  for (const [at, version] of versions.entries()) {
    const gone = [...(goneOf[at] ?? []), ...(await goneHere(tx, version, publishedNumbers))];
    if (gone.length > 0)
      throw new ServiceError(
        "conflict",
        `Version ${version.agentVersion} cannot be published: ${gone.join(", ")}. Make a version without them`,
        {
          violations: gone.map((clause) => ({
            path: "agent_version",
            message: `Version ${version.agentVersion}: ${clause}`,
          })),
        },
      );
  }
}

async function getVersions(
  sql: Sql,
  { ownerId, agentId, fieldOf }: AgentKey & Pick<PublishRequest, "fieldOf">,
  numbers: readonly number[],
): Promise<AgentVersion[]> {
  // 0 and negative numbers mean other versions there.
  if (numbers.some((number) => number < 1)) throw notFound("Agent version");
  const read = await readVersions(
    sql,
    numbers.map((agentVersion) => ({ ownerId, agentId, agentVersion })),
  );
  return read.map((version, at) => {
    if (typeof version === "number") throw notFound("Agent version", fieldOf?.(at));
    return version;
  });
}

async function store(
  tx: Sql,
  { clock }: AgentContext,
  row: AgentRow,
  { state, entry }: Outcome,
  { note, override, numbers, call }: PublishRequest & { numbers: readonly number[]; call: Call },
): Promise<Published> {
  const now = clock.now();
  const isNewest = numbers.every((number) => number === row.latestVersion);
  const publishing = isNewest ? row.publishing : "manual";
  await updateAgentRow(tx, { ...row, ...state, publishing, updatedAt: later(now, row.updatedAt) });
  const { ownerId, agentId } = row;
  const [logged] = await insertPublishes(tx, [
    {
      ...entry,
      ownerId,
      agentId,
      note: note ?? null,
      overrideReason: override?.reason ?? null,
      createdBy: actorText(call.actor),
      createdAt: now,
    },
  ]);
  return {
    publish: logged && toPublish(logged),
    publishing: PUBLISHINGS[publishing],
    becameManual: publishing !== row.publishing,
  };
}

export function toPublish(row: PublishRow): AgentPublish {
  const { number, kind, agentVersion, split, note, overrideReason, createdBy, createdAt } = row;
  return {
    ...{ number, kind, createdBy, createdAt },
    agentVersion: agentVersion ?? undefined,
    split: split ?? [],
    note: note ?? undefined,
    overrideReason: overrideReason ?? undefined,
  };
}
