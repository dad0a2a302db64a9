import {
  type AgentServiceService,
  type UpdateAgentRequest,
  UpdateAgentResponse,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Prompt } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { willSettle } from "@parley/shared/changes/follow";
import type { Sql } from "@parley/shared/db/database";
import { ServiceError } from "@parley/shared/errors";
import { runPrepared } from "@parley/shared/idempotency/run";
import { sealedResponses } from "@parley/shared/idempotency/sealed-responses";
import type { Call } from "@parley/shared/rpc/call";
import type { Handlers } from "@parley/shared/rpc/server";
import { withinRoom } from "@parley/shared/stored-bytes/room";
import { checkName } from "@parley/shared/text/name";
import { changedAgent } from "../changed-agent.ts";
import { checkFields } from "../check-fields.ts";
import type { AgentContext } from "../context.ts";
import { toAgent, withNewSecret } from "../convert.ts";
import { checkKnowledge } from "../knowledge/check-knowledge.ts";
import { type AcquiredPrompts, acquirePrompts, NO_PROMPTS } from "../prompts/acquire-prompts.ts";
import { readPrompts } from "../prompts/agent-prompts.ts";
import { type HeldClaim, requireClaim } from "../prompts/claim.ts";
import {
  promiseReferences,
  type ReferencePromise,
  settleReferencesNow,
  withReferences,
} from "../prompts/prompt-references.ts";
import { checkAgentId, getAgentRow, getLockedAgentRow } from "../read-agents.ts";
import { newSecretOf } from "../start-webhook/sealed-start-webhook.ts";
import { type AgentRow, updateAgentRow } from "../store/agents.ts";
import { freeNumbers, lockNumbers, requireFreeNumbers } from "../store/called-agents.ts";
import { checkReferences } from "../tools/agent-references.ts";

export function updateAgent(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["updateAgent"]> {
  return async (request, call) => {
    checkAgentId(request.agentId);
    if (request.agentName !== undefined) checkName("agent_name", request.agentName);
    await checkFields(ctx, request, call);
    if (!touchesReferences(request)) return change(ctx, request, call, null);
    let promise: ReferencePromise | null = null;
    // Requests with one idempotency key concern one agent, so they take turns too.
    const response = await withReferences(ctx, request, call.signal, (held) => {
      const begin = async () => {
        promise ??= await promiseReferences(ctx, { ownerId: request.ownerId, agentId: request.agentId });
      };
      return change(ctx, request, call, { held, begin });
    });
    if (promise) await settleReferencesNow(ctx, promise, call);
    return response;
  };
}

interface ReferenceChange {
  held: HeldClaim;
  /** Promises, before references are acquired, that they will be settled. */
  begin(): Promise<void>;
}

/** How often a change is prepared again because another change gave the agent another prompt in the meantime. */
const ATTEMPTS_MAX = 10;
const PROMPT_CHANGED = new Error("the agent's prompt has changed");

/** @param references for a change that affects them */
async function change(
  ctx: AgentContext,
  request: UpdateAgentRequest,
  call: Call,
  references: ReferenceChange | null,
): Promise<UpdateAgentResponse> {
  const { ownerId, idempotency } = request;
  // The response may show the start webhook's new secret.
  const codec = sealedResponses(UpdateAgentResponse, ctx.sealer, ownerId);
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    try {
      return await runPrepared(
        ctx,
        { ownerId, idempotency, codec, call },
        {
          prepare: () => prepare(ctx, request, call, references),
          write: (tx, prepared) =>
            withinRoom(tx, ownerId, ctx.room, () => write(ctx, tx, request, prepared, references)),
        },
      );
    } catch (error) {
      if (error !== PROMPT_CHANGED) throw error;
    }
  }
  throw new ServiceError("unavailable", "This agent has too many changes in progress. Try again.", {
    retryAfterMs: 1_000,
  });
}

interface Prepared {
  prompts: AcquiredPrompts;
  /** Returns the prompt that the agent will have, with its text. */
  use: Pick<AgentRow, "promptName" | "promptVersion">;
  prompt: Prompt | undefined;
}

async function prepare(
  ctx: AgentContext,
  request: UpdateAgentRequest,
  call: Call,
  references: ReferenceChange | null,
): Promise<Prepared> {
  const before = await getAgentRow(ctx.db, request);
  requireUnchanged(before, request);
  await checkKnowledge(ctx, request.ownerId, request.knowledge?.values ?? [], call);
  // Everything else is checked before the prompts, because another service writes their new versions at once.
  const use = changedAgent(ctx, before, request, NO_PROMPTS);
  if (!references) return { prompts: NO_PROMPTS, use, prompt: (await readPrompts(ctx, [use], call)).get(use) };
  await references.begin();
  const named = { ...before, agentName: request.agentName ?? before.agentName };
  const prompts = await acquirePrompts(ctx, named, request, references.held, call);
  const row = changedAgent(ctx, before, request, prompts);
  return { prompts, use: row, prompt: prompts.main?.prompt ?? (await readPrompts(ctx, [row], call)).get(row) };
}

async function write(
  ctx: AgentContext,
  tx: Sql,
  request: UpdateAgentRequest,
  { prompts, use, prompt }: Prepared,
  references: ReferenceChange | null,
): Promise<UpdateAgentResponse> {
  await willSettle(tx);
  if (references) await requireClaim(tx, references.held);
  if (request.agentMobileNumbers) await lockNumbers(tx, request.ownerId);
  const before = await getLockedAgentRow(tx, request);
  requireUnchanged(before, request);
  const row = changedAgent(ctx, before, request, prompts);
  if (row.promptName !== use.promptName || row.promptVersion !== use.promptVersion) throw PROMPT_CHANGED;
  await checkReferences(tx, row, request);
  const added = row.agentMobileNumbers.filter((number) => !before.agentMobileNumbers.includes(number));
  if (request.moveNumbers) await freeNumbers(tx, row, added, ctx.clock.now());
  else await requireFreeNumbers(tx, row, added);
  await updateAgentRow(tx, row);
  const secret = newSecretOf(request.startWebhook, before.startWebhook, row.startWebhook, ctx.modelKeys, row);
  return { agent: withNewSecret(toAgent(row, prompt), secret) };
}

/** @throws ServiceError conflict if the agent is no longer the one that the change is based on */
function requireUnchanged({ updatedAt }: AgentRow, { ifUpdatedAt }: UpdateAgentRequest): void {
  if (ifUpdatedAt === undefined || ifUpdatedAt.getTime() === updatedAt.getTime()) return;
  const detail = `The agent was changed at ${updatedAt.toISOString()}, after the one you read: read it again`;
  throw new ServiceError("conflict", detail);
}

/** Whether the prompt service must learn of a change: of the prompts that the agent uses, or of its name. */
function touchesReferences({ agentName, prompt, analysis, clear }: UpdateAgentRequest): boolean {
  return (
    agentName !== undefined ||
    prompt !== undefined ||
    analysis?.prompt !== undefined ||
    clear.includes("prompt") ||
    clear.includes("analysisPrompt")
  );
}
