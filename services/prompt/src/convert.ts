import type { Prompt } from "@parley/proto/parley/prompt/v1/prompt.ts";
import { PROMPT_TYPES } from "@parley/shared/domain/api-names";
import type { PromptRow } from "./store/prompts.ts";

export function toPrompt(row: PromptRow): Prompt {
  return { ...row, promptType: PROMPT_TYPES[row.promptType] };
}
