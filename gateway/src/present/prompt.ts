import type { Prompt, PromptLabel, PromptUser, PromptVersion } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { nameOf, PROMPT_TYPES } from "@parley/shared/domain/api-names";
import { isoTime } from "@parley/shared/domain/present/time";

/** A prompt as the API shows it (docs/api-reference.md#prompts). */
export function presentPrompt(prompt: Prompt) {
  return {
    prompt_name: prompt.promptName,
    prompt_version: prompt.promptVersion,
    prompt_content: prompt.promptContent,
    prompt_metadata: { prompt_type: nameOf(PROMPT_TYPES, prompt.promptType) },
    created_at: isoTime(prompt.createdAt),
    updated_at: isoTime(prompt.updatedAt),
    labels: prompt.labels,
  };
}

export function presentVersion(version: PromptVersion) {
  return {
    prompt_version: version.promptVersion,
    prompt_content: version.promptContent,
    created_at: isoTime(version.createdAt),
    labels: version.labels,
  };
}

export function presentPromptUser({ agentId, agentName, promptLabels }: PromptUser) {
  return { agent_id: agentId, agent_name: agentName, prompt_labels: promptLabels };
}

export function presentLabel(promptName: string, { label, promptVersion, updatedAt }: PromptLabel) {
  return { prompt_name: promptName, label, prompt_version: promptVersion, updated_at: isoTime(updatedAt) };
}
