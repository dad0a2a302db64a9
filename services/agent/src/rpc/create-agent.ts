import { type CreateAgentRequest, CreateAgentResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { AGENT_TYPES, nameOf, PUBLISHINGS } from "@parley/shared/domain/api-names";
import { runIdempotent, runPrepared } from "@parley/shared/idempotency/run";
import { sealedResponses } from "@parley/shared/idempotency/sealed-responses";
import { newId } from "@parley/shared/ids";
import type { Call } from "@parley/shared/rpc/call";
import { checkName } from "@parley/shared/text/name";
import { changedAnalysis, checkAnalysis } from "../analysis.ts";
import { checkFields } from "../check-fields.ts";
import type { AgentContext, Handler } from "../context.ts";
import { toAgent, withNewSecret } from "../convert.ts";
import { newFields } from "../fields.ts";
import { checkKnowledge } from "../knowledge/check-knowledge.ts";
import { sealKeys } from "../model-keys/seal-keys.ts";
import { type AcquiredPrompts, acquirePrompts, givesPrompts, NO_PROMPTS } from "../prompts/acquire-prompts.ts";
import { requireClaim, withClaim } from "../prompts/claim.ts";
import { keepPromise, promiseReferences, type ReferencePromise, withReferences } from "../prompts/prompt-references.ts";
import { checkAgentId, getAgentRow, readNewest } from "../read-agents.ts";
import { withinAgentRoom } from "../room.ts";
import { newSecretOf } from "../start-webhook/sealed-start-webhook.ts";
import { type AgentRow, insertAgent, NO_REFERENCE } from "../store/agents.ts";
import { findShownVersions } from "../store/versions.ts";
import { checkReferences } from "../tools/agent-references.ts";
import { followPromptsOf } from "../versions/follow.ts";
import { answerNumbers } from "../versions/numbers.ts";
import { storeVersion } from "../versions/store-version.ts";

export function createAgent(ctx: AgentContext): Handler<"createAgent"> {
  return async (request, call) => {
    checkName("agent_name", request.agentName);
    await checkFields(ctx, request, call);
    await checkKnowledge(ctx, request.ownerId, request.knowledge, call);
    checkAnalysis(null, { analysis: request.analysis, clear: [] });
    const key = { ownerId: request.ownerId, agentId: newId("agt") };
    const sealed = sealKeys(request, await copiedAgent(ctx, request), ctx.modelKeys, key);
    // The response may show the start webhook's new secret.
    const codec = sealedResponses(CreateAgentResponse, ctx.sealer, request.ownerId);
    const idempotent = { ownerId: request.ownerId, idempotency: request.idempotency, codec, call };
    const store = (tx: Sql, prompts: AcquiredPrompts) =>
      withinAgentRoom(tx, ctx, request.ownerId, () => insert(tx, prompts));
    const insert = async (tx: Sql, prompts: AcquiredPrompts) => {
      const now = ctx.clock.now();
      const row = newRow(key.agentId, request, { sealed, prompts, now });
      const facts = { note: request.versionNote ?? null, actor: call.actor, now };
      await answerNumbers(tx, row, { ...facts, move: request.moveNumbers });
      await checkReferences(tx, row, request);
      const { main, analysis } = prompts;
      const version = { ...facts, prompt: main?.prompt, analysisPrompt: analysis?.prompt };
      await insertAgent(tx, await storeVersion(tx, row, version));
      const secret = newSecretOf(request.startWebhook, null, row.startWebhook, ctx.modelKeys, key);
      return { agent: withNewSecret(toAgent(await readNewest(tx, key, findShownVersions)), secret) };
    };
    if (!givesPrompts(request)) return runIdempotent(ctx, idempotent, (tx) => store(tx, NO_PROMPTS));
    let promise: ReferencePromise | null = null;
    const response = await withKey(ctx, request, call, () =>
      withReferences(ctx, key, call.signal, (held) =>
        runPrepared(ctx, idempotent, {
          prepare: async () => {
            promise ??= await promiseReferences(ctx, key);
            const agent = { ...key, agentName: request.agentName };
            return acquirePrompts(ctx, agent, request, held, call);
          },
          write: async (tx, prompts) => {
            await requireClaim(tx, held);
            return store(tx, prompts);
          },
        }),
      ),
    );
    if (promise) await followNow(ctx, promise, call);
    return response;
  };
}

/** The prompts may have changed since they were read; if the agent cannot follow them now, the promised job has it follow. */
async function followNow(ctx: AgentContext, promise: ReferencePromise, call: Call): Promise<void> {
  try {
    await followPromptsOf(ctx, promise, call.actor, call);
    await keepPromise(ctx.db, promise);
  } catch (err) {
    call.log.warn({ err, agent_id: promise.agentId }, "a new agent could not follow its prompts now; a job will do it");
  }
}

/** The agent whose keys the masks stand for. @throws ServiceError not_found or forbidden */
async function copiedAgent(ctx: AgentContext, { ownerId, copiedAgentId: agentId }: CreateAgentRequest) {
  if (agentId === undefined) return null;
  checkAgentId(agentId);
  return getAgentRow(ctx.db, { ownerId, agentId });
}

/**
 * Requests with one key take turns: otherwise each would create an agent with its own prompts until one of them is
 * stored.
 */
function withKey<T>(
  ctx: AgentContext,
  { ownerId, idempotency }: CreateAgentRequest,
  call: Call,
  work: () => Promise<T>,
): Promise<T> {
  return idempotency ? withClaim(ctx, { ownerId, claim: `key ${idempotency.key}` }, call.signal, work) : work();
}

interface Prepared {
  sealed: ReturnType<typeof sealKeys>;
  prompts: AcquiredPrompts;
  now: Date;
}

function newRow(agentId: string, request: CreateAgentRequest, { sealed, prompts, now }: Prepared): AgentRow {
  return {
    ownerId: request.ownerId,
    agentId,
    agentName: request.agentName,
    agentType: nameOf(AGENT_TYPES, request.agentType) ?? "INBOUND",
    ...newFields({ ...request, ...sealed }),
    analysis: changedAnalysis(null, { analysis: request.analysis, clear: [] }, prompts.analysis),
    ...(prompts.main?.reference ?? NO_REFERENCE),
    publishing: nameOf(PUBLISHINGS, request.publishing) ?? "auto",
    latestVersion: 0,
    publishedVersion: null,
    publishedNumbers: [],
    traffic: null,
    keysRevision: 0,
    createdAt: now,
    updatedAt: now,
  };
}
