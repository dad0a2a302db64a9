import type { Agent, AgentPrompt, AgentRuntime, Analysis } from "@parley/proto/parley/agent/v1/agent.ts";
import type { Prompt } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { AGENT_TYPES } from "@parley/shared/domain/api-names";
import { messageFields } from "./fields.ts";
import { maskedLlm, openLlm } from "./model-keys/llm-secrets.ts";
import type { ModelKeys } from "./model-keys/model-keys.ts";
import type { AgentRow, StoredAnalysis } from "./store/agents.ts";
import { variablesOf } from "./variables.ts";

/** As owners see it: keys masked. */
export function toAgent(row: AgentRow, prompt: Prompt | undefined): Agent {
  return {
    agentId: row.agentId,
    ownerId: row.ownerId,
    agentName: row.agentName,
    agentType: AGENT_TYPES[row.agentType],
    ...messageFields(row),
    llm: row.llm ? maskedLlm(row.llm) : undefined,
    analysis: toAnalysis(row.analysis),
    prompt: toAgentPrompt(prompt),
    dynamicVariables: variablesOf(prompt?.promptContent, row.firstMessagePrompt).map((v) => v.variableName),
    createdAt: row.createdAt,
    updatedAt: row.updatedAt,
  };
}

/** As the conversation service runs it: keys in the clear, and without a model when one of them cannot be read. */
export function toRuntime(
  row: AgentRow,
  prompt: Prompt | undefined,
  analysisPrompt: Prompt | undefined,
  keys: ModelKeys,
): AgentRuntime {
  const opened = row.llm ? openLlm(row.llm, keys, row) : { llm: undefined };
  return {
    agentId: row.agentId,
    agentName: row.agentName,
    agentType: AGENT_TYPES[row.agentType],
    // Encoding leaves out those that AgentRuntime does not have.
    ...messageFields(row),
    llm: "llm" in opened ? opened.llm : undefined,
    unreadableKey: "unreadableKey" in opened ? opened.unreadableKey : undefined,
    prompt: toAgentPrompt(prompt),
    analysis: toAnalysis(row.analysis),
    analysisPrompt: toAgentPrompt(analysisPrompt),
  };
}

function toAgentPrompt(prompt: Prompt | undefined): AgentPrompt | undefined {
  return (
    prompt && {
      promptName: prompt.promptName,
      promptVersion: prompt.promptVersion,
      promptContent: prompt.promptContent,
    }
  );
}

function toAnalysis(stored: StoredAnalysis | null): Analysis | undefined {
  if (!stored) return undefined;
  const { enabled, promptName, promptVersion, schema } = stored;
  return {
    enabled,
    prompt: promptName === null ? undefined : { promptName, promptVersion: promptVersion ?? undefined },
    schema: schema ?? undefined,
  };
}
