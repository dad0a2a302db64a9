import type { PromptUse as PromptUseMessage } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { nameOf, PROMPT_TYPES } from "@parley/shared/domain/api-names";
import { invalid } from "@parley/shared/errors";
import { wantedVersion } from "./labels/label.ts";
import { checkContent, checkPromptMayExist } from "./rules.ts";
import type { PromptTypeName } from "./store/prompts.ts";

export interface ReferenceUse {
  type: PromptTypeName;
  /** The request field that holds the reference. */
  field: string;
  promptName: string;
  promptVersion: number | null;
  promptLabel: string | null;
}

export interface ContentUse {
  type: PromptTypeName;
  content: string;
}

export type PromptUse = ReferenceUse | ContentUse;

/** The agent's fields that use prompts, for errors to name. */
const FIELDS = {
  main: { reference: "prompt", content: "prompt_content" },
  analysis: { reference: "call_analysis_prompt", content: "call_analysis_prompt.custom_prompt" },
} as const satisfies Record<PromptTypeName, { reference: string; content: string }>;

/** @throws ServiceError `invalid` for a malformed use, `not_found` for an impossible prompt name */
export function readUse({ promptType, source }: PromptUseMessage): PromptUse {
  const type = nameOf(PROMPT_TYPES, promptType);
  if (!type) throw invalid("prompt_type", "prompt_type must be main or analysis");
  const fields = FIELDS[type];
  if (source?.$case === "content") {
    checkContent(source.value, fields.content);
    return { type, content: source.value };
  }
  if (source?.$case !== "reference") {
    throw invalid(fields.reference, `${fields.reference} must name a prompt or have content`);
  }
  const field = fields.reference;
  const { promptName } = source.value;
  const wanted = wantedVersion(source.value, { version: `${field}.prompt_version`, label: `${field}.prompt_label` });
  checkPromptMayExist(promptName, `${field}.prompt_name`);
  return { type, field, promptName, ...wanted };
}
