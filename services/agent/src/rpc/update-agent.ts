import {
  type AgentServiceService,
  type UpdateAgentRequest,
  UpdateAgentResponse,
} from "@parley/proto/parley/agent/v1/agent_service.ts";
import { AGENT_TYPES, nameOf } from "@parley/shared/api-names";
import { runIdempotent } from "@parley/shared/idempotency/run";
import type { Handlers } from "@parley/shared/rpc/server";
import { type AcquiredPrompts, acquirePrompts } from "../acquire-prompts.ts";
import { readPrompts } from "../agent-prompts.ts";
import { changedAnalysis, checkAnalysis } from "../analysis.ts";
import { checkProviders } from "../check-providers.ts";
import type { AgentContext } from "../context.ts";
import { toAgent } from "../convert.ts";
import { type StoredLlm, sealLlm } from "../llm-secrets.ts";
import { promiseReferences, settleReferencesNow } from "../prompt-references.ts";
import { checkAgentId, getAgentRow } from "../read-agents.ts";
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
  firstMessagePrompt: null,
  tools: null,
  widgetConfig: null,
  mediaFiles: [],
};

export function updateAgent(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["updateAgent"]> {
  return async (request, call) => {
    checkAgentId(request.agentId);
    checkProviders(ctx, request);
    const key = { ownerId: request.ownerId, agentId: request.agentId };
    const promise = touchesReferences(request) ? await promiseReferences(ctx, key) : null;
    const response = await runIdempotent(
      ctx,
      { ownerId: request.ownerId, idempotency: request.idempotency, codec: UpdateAgentResponse, call },
      async (tx) => {
        await lockAgent(tx, key.agentId);
        const before = await getAgentRow(tx, key);
        // Whatever may be refused comes before the prompts, whose new versions another service writes at once.
        checkAnalysis(before.analysis, request);
        const llm = request.llm && sealLlm(request.llm, before.llm, ctx.sealer, before.ownerId);
        const named = { ...key, agentName: request.agentName ?? before.agentName };
        const prompts = await acquirePrompts(ctx, named, request.prompt, request.analysis, call);
        const row = changed(before, request, { llm, prompts, now: ctx.clock.now() });
        await updateAgentRow(tx, row);
        const prompt = prompts.main?.prompt ?? (await readPrompts(ctx, [row], call)).get(row);
        return { agent: toAgent(row, prompt) };
      },
    );
    if (promise) await settleReferencesNow(ctx, promise, call.log);
    return response;
  };
}

/** Whether the prompt service is to know of a change: which prompts the agent uses, or the name it is called by there. */
function touchesReferences({ agentName, prompt, analysis, clear }: UpdateAgentRequest): boolean {
  return (
    agentName !== undefined ||
    prompt !== undefined ||
    analysis?.prompt !== undefined ||
    clear.includes("prompt") ||
    clear.includes("analysisPrompt")
  );
}

interface Prepared {
  llm: StoredLlm | undefined;
  prompts: AcquiredPrompts;
  now: Date;
}

function changed(before: AgentRow, request: UpdateAgentRequest, { llm, prompts, now }: Prepared): AgentRow {
  const row: AgentRow = { ...before, updatedAt: later(now, before.updatedAt) };
  for (const field of request.clear) {
    if (field === "prompt") Object.assign(row, { promptName: null, promptVersion: null });
    else if (Object.hasOwn(CLEARED, field)) Object.assign(row, { [field]: CLEARED[field as keyof AgentRow] });
  }
  if (request.agentName !== undefined) row.agentName = request.agentName;
  row.agentType = nameOf(AGENT_TYPES, request.agentType) ?? row.agentType;
  if (request.agentDescription !== undefined) row.agentDescription = request.agentDescription;
  if (request.agentCategory !== undefined) row.agentCategory = request.agentCategory;
  if (request.agentTips) row.agentTips = request.agentTips.values;
  if (request.agentMobileNumbers) row.agentMobileNumbers = request.agentMobileNumbers.values;
  if (request.stt) row.stt = request.stt;
  if (llm) row.llm = llm;
  if (request.tts) row.tts = request.tts;
  if (request.sts) row.sts = request.sts;
  if (request.firstMessagePrompt !== undefined) row.firstMessagePrompt = request.firstMessagePrompt;
  if (request.tools) row.tools = request.tools;
  if (request.widgetConfig) row.widgetConfig = request.widgetConfig;
  if (request.mediaFiles) row.mediaFiles = request.mediaFiles.values;
  if (prompts.main)
    Object.assign(row, { promptName: prompts.main.promptName, promptVersion: prompts.main.promptVersion });
  row.analysis = changedAnalysis(before.analysis, request, prompts.analysis);
  return row;
}

/** `updated_at` always moves (decisions.md: Agents), within one millisecond and on a clock that was set back too. */
function later(now: Date, before: Date): Date {
  return now > before ? now : new Date(before.getTime() + 1);
}
