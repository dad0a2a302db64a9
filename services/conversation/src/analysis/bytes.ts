import { byteShares, type Hold } from "@parley/shared/shares/byte-shares";
import type { ConversationLimits } from "../context.ts";
import { byteBudget } from "../turn/ask/context-window.ts";

/** Limit for a provider's raw response: ten times the longest analyses seen. */
export const ANALYSIS_ANSWER_MAX_BYTES = 2 * 1024 * 1024;

/** Limit for all running analyses of a process. The default settings need half of it. */
const TOTAL_BYTES = 64 * 1024 * 1024;
const OWNER_BYTES = TOTAL_BYTES / 4;

export interface AnalysisShares {
  /**
   * Waits until there is memory for another analysis of this owner.
   * @throws ServiceError cancelled when `gone` fires
   */
  hold(ownerId: string, gone: AbortSignal): Promise<Hold>;
}

/** Bounds the memory that transcripts, requests and answers of running analyses use. */
export function analysisShares({ contextTokens, analysesPerOwner }: ConversationLimits): AnalysisShares {
  const shares = byteShares({
    what: "analyses",
    totalBytes: TOTAL_BYTES,
    ownerBytes: OWNER_BYTES,
    waitingMax: analysesPerOwner,
  });
  // The transcript is held twice: as read and inside the request.
  const bytes = 2 * byteBudget(contextTokens) + ANALYSIS_ANSWER_MAX_BYTES;
  return { hold: (ownerId, gone) => shares.hold(ownerId, bytes, gone) };
}
