import type { Prompt, PromptVersion } from "@parley/proto/parley/prompt/v1/prompt.ts";
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
  };
}

export function presentVersion(version: PromptVersion) {
  return {
    prompt_version: version.promptVersion,
    prompt_content: version.promptContent,
    created_at: isoTime(version.createdAt),
  };
}
