import { type UpdateAgentRequest, UpdateAgentResponse } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { sealedResponses } from "@parley/shared/idempotency/sealed-responses";
import type { Call } from "@parley/shared/rpc/call";
import { checkName } from "@parley/shared/text/name";
import { changedAgent } from "../changed-agent.ts";
import { checkFields } from "../check-fields.ts";
import type { AgentContext, Handler } from "../context.ts";
import { toAgent, withNewSecret } from "../convert.ts";
import { checkKnowledge } from "../knowledge/check-knowledge.ts";
import { type AcquiredPrompts, acquirePrompts, NO_PROMPTS } from "../prompts/acquire-prompts.ts";
import { type HeldClaim, requireClaim } from "../prompts/claim.ts";
import { withSettledReferences } from "../prompts/prompt-references.ts";
import { checkAgentId, getAgentRow, getLockedAgentRow, readNewest } from "../read-agents.ts";
import { withinAgentRoom } from "../room.ts";
import { newSecretOf } from "../start-webhook/sealed-start-webhook.ts";
import { type AgentRow, updateAgentRow } from "../store/agents.ts";
import { findShownVersions } from "../store/versions.ts";
import { requireNoRequiredTests } from "../tests/required.ts";
import { checkReferences } from "../tools/agent-references.ts";
import { followPrompt } from "../versions/follow.ts";
import { answerNumbers } from "../versions/numbers.ts";
import { storeVersion } from "../versions/store-version.ts";

export function updateAgent(ctx: AgentContext): Handler<"updateAgent"> {
  return async (request, call) => {
    checkAgentId(request.agentId);
    if (request.agentName !== undefined) checkName("agent_name", request.agentName);
    await checkFields(ctx, request, call);
    if (!touchesReferences(request)) return change(ctx, request, call, null);
    // Requests with one idempotency key concern one agent, so they take turns too.
    const response = await withSettledReferences(ctx, request, call, (held, begin) =>
      change(ctx, request, call, { held, begin }),
    );
    await followOwnPrompts(ctx, request, response, call);
    return response;
  };
}

/** Other agents may follow the prompts that the change has brought itself. If they cannot now, a job of the prompt service has them follow. */
async function followOwnPrompts(
  ctx: AgentContext,
  { ownerId, prompt, analysis }: UpdateAgentRequest,
  { agent }: UpdateAgentResponse,
  call: Call,
): Promise<void> {
  const brought = [
    prompt?.source?.$case === "content" ? agent?.prompt?.promptName : undefined,
    analysis?.prompt?.source?.$case === "content" ? agent?.analysis?.prompt?.promptName : undefined,
  ].filter((name) => name !== undefined);
  try {
    for (const promptName of brought) await followPrompt(ctx, { ownerId, promptName }, call.actor, call);
  } catch (err) {
    call.log.warn({ err, owner_id: ownerId }, "agents could not follow a prompt of another one now; a job will do it");
  }
}

interface ReferenceChange {
  held: HeldClaim;
  /** Promises, before references are acquired, that they will be settled. */
  begin(): Promise<void>;
}

/** @param references for a change that affects them */
function change(
  ctx: AgentContext,
  request: UpdateAgentRequest,
  call: Call,
  references: ReferenceChange | null,
): Promise<UpdateAgentResponse> {
  const { ownerId, idempotency } = request;
  // The response may show the start webhook's new secret.
  const codec = sealedResponses(UpdateAgentResponse, ctx.sealer, ownerId);
  return runPrepared(
    ctx,
    { ownerId, idempotency, codec, call },
    {
      prepare: () => prepare(ctx, request, call, references),
      write: (tx, prompts) =>
        withinAgentRoom(tx, ctx, ownerId, () => write(ctx, tx, request, { prompts, references, call })),
    },
  );
}

async function prepare(
  ctx: AgentContext,
  request: UpdateAgentRequest,
  call: Call,
  references: ReferenceChange | null,
): Promise<AcquiredPrompts> {
  const before = await getAgentRow(ctx.db, request);
  requireUnchanged(before, request);
  await checkKnowledge(ctx, request.ownerId, request.knowledge?.values ?? [], call);
  // Everything else is checked before the prompts, because another service writes their new versions at once.
  changedAgent(ctx, before, request, NO_PROMPTS);
  if (!references) return NO_PROMPTS;
  await references.begin();
  const named = { ...before, agentName: request.agentName ?? before.agentName };
  return acquirePrompts(ctx, named, request, references.held, call);
}

interface Prepared {
  prompts: AcquiredPrompts;
  references: ReferenceChange | null;
  call: Call;
}

async function write(
  ctx: AgentContext,
  tx: Sql,
  request: UpdateAgentRequest,
  { prompts, references, call }: Prepared,
): Promise<UpdateAgentResponse> {
  if (references) await requireClaim(tx, references.held);
  const before = await getLockedAgentRow(tx, request);
  requireUnchanged(before, request);
  const row = changedAgent(ctx, before, request, prompts);
  await checkReferences(tx, row, request);
  if (row.publishing === "auto" && before.publishing === "manual") await requireNoRequiredTests(tx, row);
  const facts = { note: request.versionNote ?? null, actor: call.actor, now: ctx.clock.now() };
  await answerNumbers(tx, row, { ...facts, move: request.moveNumbers });
  const { main, analysis } = prompts;
  const version = {
    ...facts,
    prompt: main?.prompt ?? (request.clear.includes("prompt") ? null : undefined),
    analysisPrompt: analysis?.prompt ?? (request.clear.includes("analysisPrompt") ? null : undefined),
  };
  await updateAgentRow(tx, await storeVersion(tx, row, version));
  const secret = newSecretOf(request.startWebhook, before.startWebhook, row.startWebhook, ctx.modelKeys, row);
  return { agent: withNewSecret(toAgent(await readNewest(tx, row, findShownVersions)), secret) };
}

/** @throws ServiceError conflict if the agent is no longer the one that the change is based on */
function requireUnchanged({ updatedAt }: AgentRow, { ifUpdatedAt }: UpdateAgentRequest): void {
  if (ifUpdatedAt === undefined || ifUpdatedAt.getTime() === updatedAt.getTime()) return;
  const detail = `The agent was changed at ${updatedAt.toISOString()}, after the one you read: read it again`;
  throw new ServiceError("conflict", detail);
}

/** Whether the prompt service must learn of a change: of the prompts that the agent's versions in use have, or of its name. */
function touchesReferences({ agentName, publishing, prompt, analysis, clear }: UpdateAgentRequest): boolean {
  return (
    agentName !== undefined ||
    publishing !== undefined ||
    prompt !== undefined ||
    analysis?.prompt !== undefined ||
    clear.includes("prompt") ||
    clear.includes("analysisPrompt")
  );
}
