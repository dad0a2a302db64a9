import type { AcquirePromptsResponse_Acquired as Acquired } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { PROMPT_TYPES } from "@parley/shared/domain/api-names";
import { invalid, notFound, ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import type { Handler, PromptContext } from "../context.ts";
import { toPrompt } from "../convert.ts";
import { promiseOthers } from "../following/follow.ts";
import { type ContentUse, type PromptUse, type ReferenceUse, readUse } from "../prompt-use.ts";
import { beginReferenceChange } from "../reference-change.ts";
import { findVersions, insertVersion, type PromptTypeName } from "../store/prompts.ts";
import { addReferences, findTypes, holdPrompts, type Reference, type ReferringAgent } from "../store/references.ts";

export function acquirePrompts(ctx: PromptContext): Handler<"acquirePrompts"> {
  return async ({ ownerId, agentId, agentName, uses, revision, preview }) => {
    const agent = { ownerId, agentId, agentName };
    const wanted = uses.map(readUse);
    if (preview) return { acquired: await previewed(ctx, agent, wanted) };
    const writes = !wanted.every(isReference);
    const acquire = async (tx: Sql) => {
      await beginReferenceChange(tx, { ...agent, revision, agentGone: false }, ctx.clock);
      // Locks all prompts by name before writing any, so that two such transactions cannot deadlock.
      const types = await holdPrompts(
        tx,
        ownerId,
        wanted.filter(isReference).map((use) => use.promptName),
      );
      const acquired: Acquired[] = [];
      for (const use of wanted) {
        acquired.push(
          isReference(use) ? await takeReferenced(tx, ownerId, use, types) : await writeInternal(tx, ctx, agent, use),
        );
      }
      await addReferences(tx, agent, acquired.map(toReference));
      return { acquired };
    };
    return ctx.db.begin((tx) => (writes ? withinRoom(tx, ownerId, ctx.room, () => acquire(tx)) : acquire(tx)));
  };
}

function toReference({ reference }: Acquired): Reference {
  return { promptName: reference?.promptName ?? "", promptLabel: reference?.promptLabel ?? null };
}

/** The prompts that the uses would acquire. @throws ServiceError as acquiring them does */
async function previewed(
  { db, clock }: PromptContext,
  { ownerId, agentId }: ReferringAgent,
  wanted: readonly PromptUse[],
): Promise<Acquired[]> {
  const types = await findTypes(
    db,
    ownerId,
    wanted.filter(isReference).map(({ promptName }) => promptName),
  );
  const now = clock.now();
  const unwritten = ({ type, content }: ContentUse): Acquired => {
    const promptName = internalName(agentId, type);
    const prompt = { promptName, promptVersion: 0, promptContent: content, promptType: PROMPT_TYPES[type] };
    return {
      reference: { promptName },
      prompt: { ...prompt, createdAt: now, updatedAt: now, labels: [] },
    };
  };
  return Promise.all(
    wanted.map((use) => (isReference(use) ? takeReferenced(db, ownerId, use, types) : unwritten(use))),
  );
}

function isReference(use: PromptUse): use is ReferenceUse {
  return "promptName" in use;
}

async function takeReferenced(
  sql: Sql,
  ownerId: string,
  { type, field, promptName, promptVersion, promptLabel }: ReferenceUse,
  types: ReadonlyMap<string, PromptTypeName>,
): Promise<Acquired> {
  const ownType = types.get(promptName);
  if (!ownType) throw notFound("Prompt", `${field}.prompt_name`);
  if (ownType !== type) {
    const message = `${field} ${promptName} is ${prompt(ownType)}. Choose one of type ${type} as an agent's ${type} prompt.`;
    throw invalid(`${field}.prompt_name`, message);
  }
  const [row] = await findVersions(sql, [{ ownerId, promptName, promptVersion, promptLabel }]);
  if (!row && promptLabel !== null) throw notFound("Label", `${field}.prompt_label`);
  if (!row) throw notFound("Prompt", `${field}.prompt_version`);
  const reference = { promptName, promptVersion: promptVersion ?? undefined, promptLabel: promptLabel ?? undefined };
  return { reference, prompt: toPrompt(row) };
}

/** A prompt that a user created under the internal name also gets the version, and stays a user's prompt. */
async function writeInternal(
  tx: Sql,
  { clock }: PromptContext,
  { ownerId, agentId }: ReferringAgent,
  { type, content }: ContentUse,
): Promise<Acquired> {
  const promptName = internalName(agentId, type);
  const row = await insertVersion(tx, {
    ownerId,
    promptName,
    promptId: newId("pmt"),
    promptType: type,
    internalAgentId: agentId,
    promptContent: content,
    now: clock.now(),
  });
  if (!row) {
    const other = type === "main" ? "analysis" : "main";
    const detail = `Prompt ${promptName} exists and is ${prompt(other)}: delete it so that the agent's own prompt can be created`;
    throw new ServiceError("conflict", detail);
  }
  await promiseOthers(tx, { clock }, { ownerId, promptName, exceptAgentId: agentId });
  return { reference: { promptName }, prompt: toPrompt(row) };
}

/** The name of a prompt that an agent brought itself (docs/api-reference.md#prompts-of-an-agent). */
function internalName(agentId: string, type: PromptTypeName): string {
  return type === "main" ? `agent-${agentId}` : `agent-${agentId}-analysis`;
}

function prompt(type: PromptTypeName): string {
  return type === "main" ? "a main prompt" : "an analysis prompt";
}
