import type { Agent, AgentRuntime, Analysis } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Tool } from "@parley/proto/parley/agent/v1/tool.ts";
import type { PromptReference } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { AGENT_TYPES, PUBLISHINGS } from "@parley/shared/domain/api-names";
import type { AgentContext } from "./context.ts";
import { messageFields } from "./fields.ts";
import { maskedLlm, openLlm } from "./model-keys/llm-secrets.ts";
import { maskedSpeech, speechWithoutKey } from "./model-keys/speech-secrets.ts";
import { maskedStartWebhook, openStartWebhook } from "./start-webhook/sealed-start-webhook.ts";
import type { StoredAnalysis, StoredReference } from "./store/agents.ts";
import type { AgentVersion } from "./store/versions.ts";
import { variablesOf } from "./variables.ts";

/** The agent as its owner sees it, with the settings of one version: keys are masked. */
export function toAgent({ row, agentVersion, prompt }: AgentVersion): Agent {
  return {
    agentId: row.agentId,
    ownerId: row.ownerId,
    agentName: row.agentName,
    agentType: AGENT_TYPES[row.agentType],
    ...messageFields(row),
    stt: row.stt ? maskedSpeech(row.stt) : undefined,
    llm: row.llm ? maskedLlm(row.llm) : undefined,
    tts: row.tts ? maskedSpeech(row.tts) : undefined,
    startWebhook: row.startWebhook ? maskedStartWebhook(row.startWebhook) : undefined,
    analysis: toAnalysis(row.analysis),
    prompt,
    promptPinned: row.promptVersion !== null,
    promptLabel: row.promptLabel ?? undefined,
    publishing: PUBLISHINGS[row.publishing],
    agentVersion,
    latestVersion: row.latestVersion,
    publishedVersion: row.publishedVersion ?? undefined,
    publishedNumbers: row.publishedNumbers,
    dynamicVariables: variablesOf(row.ownerId, prompt?.promptContent, row.firstMessagePrompt).map(
      (v) => v.variableName,
    ),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

interface RunAgent extends Pick<AgentVersion, "row" | "prompt" | "analysisPrompt"> {
  /** 0 for a draft. */
  agentVersion: number;
  customTools: Tool[];
}

/**
 * A version or draft of an agent as the conversation service runs it: keys in plain text, with the models' prices, and no model when one
 * of its keys cannot be opened.
 */
export function toRuntime(
  { row, agentVersion, prompt, analysisPrompt, customTools }: RunAgent,
  { modelKeys, catalogue, pricesHash }: Pick<AgentContext, "modelKeys" | "catalogue" | "pricesHash">,
): AgentRuntime {
  const opened = row.llm ? openLlm(row.llm, modelKeys, row, catalogue.prices) : { llm: undefined };
  return {
    agentId: row.agentId,
    agentName: row.agentName,
    agentType: AGENT_TYPES[row.agentType],
    // Encoding drops the fields that AgentRuntime does not have.
    ...messageFields(row),
    llm: "llm" in opened ? opened.llm : undefined,
    stt: row.stt ? speechWithoutKey(row.stt) : undefined,
    tts: row.tts ? speechWithoutKey(row.tts) : undefined,
    startWebhook: row.startWebhook ? openStartWebhook(row.startWebhook, modelKeys, row) : undefined,
    unreadableKey: "unreadableKey" in opened ? opened.unreadableKey : undefined,
    prompt,
    analysis: toAnalysis(row.analysis),
    analysisPrompt,
    customTools,
    agentVersion,
    keysRevision: row.keysRevision,
    pricesHash,
  };
}

/** The agent as its owner sees it once after a change that has set the start webhook's secret. */
export function withNewSecret(agent: Agent, secret: string | null): Agent {
  const { startWebhook } = agent;
  return secret === null || !startWebhook ? agent : { ...agent, startWebhook: { ...startWebhook, secret } };
}

function toAnalysis(stored: StoredAnalysis | null): Analysis | undefined {
  if (!stored) return undefined;
  const { enabled, schema } = stored;
  return {
    enabled,
    prompt: toReference(stored),
    schema: schema ?? undefined,
  };
}

export function toReference({ promptName, promptVersion, promptLabel }: StoredReference): PromptReference | undefined {
  if (promptName === null) return undefined;
  return { promptName, promptVersion: promptVersion ?? undefined, promptLabel: promptLabel ?? undefined };
}
