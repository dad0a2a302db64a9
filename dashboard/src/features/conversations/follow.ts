/** An analysis that was asked for again. */
export interface Asked {
  atMs: number;
  /** `updated_at` of the conversation at that time, which moves when the analysis is stored. */
  before: string;
}

interface Followed {
  conversation_status: string;
  updated_at: string;
  conversation_analysis: readonly unknown[] | null;
}

const ANALYSIS_EVERY_MS = 2_000;
/** An analysis is tried for about three minutes, in addition to the attempts of each model call (docs/api-reference.md#analysis). */
const ANALYSIS_MS_MAX = 300_000;

/** Milliseconds after which a conversation is read again; false if nothing new is expected, or events tell of it (live/use-live.ts). */
export function readAgainAfter(
  { conversation_status, updated_at, conversation_analysis }: Followed,
  nowMs: number,
  asked?: Asked,
): number | false {
  if (conversation_status === "IN_PROGRESS") return false;
  const isFirstComing = !conversation_analysis && nowMs - Date.parse(updated_at) < ANALYSIS_MS_MAX;
  return isFirstComing || isAwaited(updated_at, nowMs, asked) ? ANALYSIS_EVERY_MS : false;
}

/** Whether an analysis that was asked for is still to come. */
export function isAwaited(updatedAt: string, nowMs: number, asked: Asked | undefined): boolean {
  return asked !== undefined && asked.before === updatedAt && nowMs - asked.atMs < ANALYSIS_MS_MAX;
}
