import type { UpdateAgentRequest } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { invalid } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import type { Call } from "@parley/shared/rpc/call";
import { checkName } from "@parley/shared/text/name";
import { changedAgent } from "../changed-agent.ts";
import { checkFields } from "../check-fields.ts";
import type { AgentContext, Handler } from "../context.ts";
import { checkKnowledge } from "../knowledge/check-knowledge.ts";
import { NO_PROMPTS, previewPrompts } from "../prompts/acquire-prompts.ts";
import { checkAgentId, getVersion } from "../read-agents.ts";
import { type Draft, insertDraft } from "../store/drafts.ts";
import { LATEST } from "../store/versions.ts";
import { checkReferences } from "../tools/agent-references.ts";

/** Longer than any call lasts. A chat sends its draft with each message. */
const KEPT_MS = 24 * 60 * 60_000;
/** Limit for the drafts of one owner, in bytes; the oldest are deleted first. */
const BYTES_MAX = 16 * 1024 * 1024;

export function createDraft(ctx: AgentContext): Handler<"createDraft"> {
  return async ({ change, agentVersion, asksStartWebhook = false }, call) => {
    if (!change) throw invalid("change", "change is required");
    checkAgentId(change.agentId);
    if (change.agentName !== undefined) checkName("agent_name", change.agentName);
    await checkFields(ctx, change, call);
    const draft = { ...(await draftOf(ctx, change, agentVersion, call)), asksStartWebhook };
    const draftId = newId("drf");
    const now = ctx.clock.now();
    const expiresAt = new Date(now.getTime() + KEPT_MS);
    const key = { ownerId: change.ownerId, agentId: change.agentId, draftId };
    await insertDraft(ctx.db, key, draft, { now, expiresAt, bytesMax: BYTES_MAX });
    return { draftId, expiresAt };
  };
}

async function draftOf(
  ctx: AgentContext,
  change: UpdateAgentRequest,
  agentVersion: number | undefined,
  call: Call,
): Promise<Omit<Draft, "asksStartWebhook">> {
  const changed = await getVersion(ctx.db, change, agentVersion ?? LATEST);
  const before = changed.row;
  await checkKnowledge(ctx, change.ownerId, change.knowledge?.values ?? [], call);
  // Everything that can be refused without the prompt service is refused before that is called.
  await checkReferences(ctx.db, changedAgent(ctx, before, change, NO_PROMPTS), change);
  const { main, analysis } = await previewPrompts(ctx, before, change, call);
  const row = changedAgent(ctx, before, change, { main, analysis });
  return {
    row,
    prompt: main?.prompt ?? (row.promptName === null ? undefined : changed.prompt),
    analysisPrompt: analysis?.prompt ?? (row.analysis?.promptName == null ? undefined : changed.analysisPrompt),
    ...(agentVersion !== undefined && { tools: changed.tools }),
  };
}
