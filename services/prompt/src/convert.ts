import { type Prompt, PromptType } from "@parley/proto/parley/prompt/v1/prompt.ts";
import type { PromptRow, PromptTypeName } from "./store/prompts.ts";

const TYPES: Record<PromptTypeName, PromptType> = {
  main: PromptType.PROMPT_TYPE_MAIN,
  analysis: PromptType.PROMPT_TYPE_ANALYSIS,
};

/** Null for an unspecified type. */
export function toTypeName(type: PromptType): PromptTypeName | null {
  if (type === PromptType.PROMPT_TYPE_MAIN) return "main";
  return type === PromptType.PROMPT_TYPE_ANALYSIS ? "analysis" : null;
}

export function toPrompt(row: PromptRow): Prompt {
  return { ...row, promptType: TYPES[row.promptType] };
}
