import {
  type AgentServiceService,
  type CreateAgentRequest,
  CreateAgentResponse,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import { AGENT_TYPES, nameOf } from "@parley/shared/api-names";
import { runIdempotent } from "@parley/shared/idempotency/run";
import { newId } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import { type AcquiredPrompts, acquirePrompts } from "../acquire-prompts.ts";
import { changedAnalysis, checkAnalysis } from "../analysis.ts";
import { checkProviders } from "../check-providers.ts";
import type { AgentContext } from "../context.ts";
import { toAgent } from "../convert.ts";
import { type StoredLlm, sealLlm } from "../llm-secrets.ts";
import { keepPromise, promiseReferences } from "../prompt-references.ts";
import { type AgentRow, insertAgent, lockAgent } from "../store/agents.ts";

const CATEGORY = "other";

export function createAgent(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["createAgent"]> {
  return async (request, call) => {
    checkProviders(ctx, request);
    checkAnalysis(null, { analysis: request.analysis, clear: [] });
    const key = { ownerId: request.ownerId, agentId: newId("agt") };
    const llm = request.llm ? sealLlm(request.llm, null, ctx.sealer, key.ownerId) : null;
    const promise = await promiseReferences(ctx, key);
    return runIdempotent(
      ctx,
      { ownerId: request.ownerId, idempotency: request.idempotency, codec: CreateAgentResponse, call },
      async (tx) => {
        await lockAgent(tx, key.agentId);
        const agent = { ...key, agentName: request.agentName };
        const prompts = await acquirePrompts(ctx, agent, request.prompt, request.analysis, call);
        const row = newRow(key.agentId, request, { llm, prompts, now: ctx.clock.now() });
        await insertAgent(tx, row);
        await keepPromise(tx, promise);
        return { agent: toAgent(row, prompts.main?.prompt) };
      },
    );
  };
}

interface Prepared {
  llm: StoredLlm | null;
  prompts: AcquiredPrompts;
  now: Date;
}

function newRow(agentId: string, request: CreateAgentRequest, { llm, prompts, now }: Prepared): AgentRow {
  return {
    ownerId: request.ownerId,
    agentId,
    agentName: request.agentName,
    agentDescription: request.agentDescription ?? null,
    agentType: nameOf(AGENT_TYPES, request.agentType) ?? "INBOUND",
    agentCategory: request.agentCategory ?? CATEGORY,
    agentTips: request.agentTips,
    agentMobileNumbers: request.agentMobileNumbers,
    stt: request.stt ?? null,
    llm,
    tts: request.tts ?? null,
    sts: request.sts ?? null,
    analysis: changedAnalysis(null, { analysis: request.analysis, clear: [] }, prompts.analysis),
    promptName: prompts.main?.promptName ?? null,
    promptVersion: prompts.main?.promptVersion ?? null,
    firstMessagePrompt: request.firstMessagePrompt ?? null,
    tools: request.tools ?? null,
    widgetConfig: request.widgetConfig ?? null,
    mediaFiles: request.mediaFiles,
    createdAt: now,
    updatedAt: now,
  };
}
