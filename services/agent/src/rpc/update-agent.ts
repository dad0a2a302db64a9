import { AgentType } from "@parley/proto/parley/agent/v1/agent.ts";
import {
  type AgentServiceService,
  type UpdateAgentRequest,
  UpdateAgentResponse,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import { runIdempotent } from "@parley/shared/idempotency/run";
import type { Handlers } from "@parley/shared/rpc/server";
import { type AcquiredPrompts, acquirePrompts } from "../acquire-prompts.ts";
import { checkProviders } from "../check-providers.ts";
import type { AgentContext } from "../context.ts";
import { agentTypeName, toAgent } from "../convert.ts";
import { sealLlm } from "../llm-secrets.ts";
import { promiseReferences, settleReferencesNow } from "../prompt-references.ts";
import { readAgent, readPrompts } from "../read-agents.ts";
import { type AgentRow, lockAgent, updateAgentRow } from "../store/agents.ts";

/** What a cleared field becomes. */
const CLEARED: Partial<AgentRow> = {
  agentDescription: null,
  agentCategory: "other",
  agentTips: [],
  agentMobileNumbers: [],
  stt: null,
  llm: null,
  tts: null,
  sts: null,
  analysis: null,
  firstMessagePrompt: null,
  tools: null,
  widgetConfig: null,
  mediaFiles: [],
};

export function updateAgent(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["updateAgent"]> {
  return async (request, call) => {
    checkProviders(ctx.catalogue, request);
    const key = { ownerId: request.ownerId, agentId: request.agentId };
    await promiseReferences(ctx, key);
    const response = await runIdempotent(
      ctx,
      { ownerId: request.ownerId, idempotency: request.idempotency, codec: UpdateAgentResponse, call },
      async (tx) => {
        await lockAgent(tx, key.agentId);
        const { row: before } = await readAgent(ctx, key, call, tx);
        const named = { ...key, agentName: request.agentName ?? before.agentName };
        const prompts = await acquirePrompts(ctx, named, request.prompt, request.analysis, call);
        const row = changed(ctx, before, request, prompts);
        await updateAgentRow(tx, row);
        const prompt = prompts.main?.prompt ?? (await readPrompts(ctx, [row], call)).get(row);
        return { agent: toAgent(row, prompt) };
      },
    );
    await settleReferencesNow(ctx, key, call.log);
    return response;
  };
}

function changed(ctx: AgentContext, before: AgentRow, request: UpdateAgentRequest, prompts: AcquiredPrompts): AgentRow {
  const row: AgentRow = { ...before, updatedAt: ctx.clock.now() };
  for (const field of request.clear) {
    if (field === "prompt") Object.assign(row, { promptName: null, promptVersion: null });
    else if (field in CLEARED) Object.assign(row, { [field]: CLEARED[field as keyof AgentRow] });
  }
  if (request.agentName !== undefined) row.agentName = request.agentName;
  if (request.agentType !== AgentType.AGENT_TYPE_UNSPECIFIED) row.agentType = agentTypeName(request.agentType);
  if (request.agentDescription !== undefined) row.agentDescription = request.agentDescription;
  if (request.agentCategory !== undefined) row.agentCategory = request.agentCategory;
  if (request.agentTips) row.agentTips = request.agentTips.values;
  if (request.agentMobileNumbers) row.agentMobileNumbers = request.agentMobileNumbers.values;
  if (request.stt) row.stt = request.stt;
  if (request.llm) row.llm = sealLlm(request.llm, before.llm, ctx.sealer, before.ownerId);
  if (request.tts) row.tts = request.tts;
  if (request.sts) row.sts = request.sts;
  if (request.firstMessagePrompt !== undefined) row.firstMessagePrompt = request.firstMessagePrompt;
  if (request.tools) row.tools = request.tools;
  if (request.widgetConfig) row.widgetConfig = request.widgetConfig;
  if (request.mediaFiles) row.mediaFiles = request.mediaFiles.values;
  if (prompts.main)
    Object.assign(row, { promptName: prompts.main.promptName, promptVersion: prompts.main.promptVersion });
  if (request.analysis) {
    row.analysis = {
      enabled: request.analysis.enabled,
      promptName: prompts.analysis?.promptName ?? before.analysis?.promptName ?? null,
      promptVersion: prompts.analysis ? prompts.analysis.promptVersion : (before.analysis?.promptVersion ?? null),
      schema: request.analysis.schema ?? before.analysis?.schema ?? null,
    };
  }
  return row;
}
