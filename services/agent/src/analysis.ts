import type { AnalysisSettings } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { NotationError, parseNotation } from "@parley/shared/domain/analysis/notation";
import { invalid } from "@parley/shared/errors";
import { nameFault } from "@parley/shared/text/name";
import type { AcquiredPrompts } from "./prompts/acquire-prompts.ts";
import { NO_REFERENCE, type StoredAnalysis } from "./store/agents.ts";

/** The part of a change that concerns an agent's analysis. Each field is separate in the API, so a missing one stays unchanged. */
interface AnalysisChange {
  analysis: AnalysisSettings | undefined;
  /** Clears the parts that it names: `analysisPrompt` and `analysisSchema`; ignores other names. */
  clear: readonly string[];
}

const NONE: StoredAnalysis = { enabled: false, ...NO_REFERENCE, schema: null };

/**
 * Checks the settings that a change leads to, before any prompt is acquired for it
 * (docs/api-reference.md#analysis-settings).
 * @throws ServiceError invalid when analysis would run without a prompt, or its schema has a field that cannot be
 * parsed
 */
export function checkAnalysis(before: StoredAnalysis | null, { analysis, clear }: AnalysisChange): void {
  const enabled = analysis?.enabled ?? before?.enabled ?? false;
  const keepsPrompt = before?.promptName != null && !clear.includes("analysisPrompt");
  if (enabled && !keepsPrompt && !analysis?.prompt?.source) {
    throw invalid("call_analysis_prompt", "call_analysis_prompt is required when call_analysis_enabled is true");
  }
  for (const [name, field] of Object.entries(analysis?.schema ?? {})) {
    const fault = nameFault(name);
    if (fault) throw invalid("call_analysis_schema", `The name of each field of call_analysis_schema ${fault}`);
    checkNotation(`call_analysis_schema.${name}.type`, (field as { type?: unknown }).type);
  }
}

function checkNotation(path: string, notation: unknown): void {
  try {
    parseNotation(String(notation));
  } catch (error) {
    if (!(error instanceof NotationError)) throw error;
    throw invalid(path, `${path} must ${error.message}`);
  }
}

/** The settings after a change. @param acquired the prompt that the change gives, if any */
export function changedAnalysis(
  before: StoredAnalysis | null,
  { analysis, clear }: AnalysisChange,
  acquired: AcquiredPrompts["analysis"],
): StoredAnalysis {
  const { enabled, schema, ...prompt } = before ?? NONE;
  const kept = clear.includes("analysisPrompt") ? NO_REFERENCE : prompt;
  return {
    enabled: analysis?.enabled ?? enabled,
    ...(acquired?.reference ?? kept),
    schema: analysis?.schema ?? (clear.includes("analysisSchema") ? null : schema),
  };
}
