import { byteShares, type Hold } from "@parley/shared/byte-shares";
import type { ConversationLimits } from "../context.ts";
import { byteBudget } from "../turn/context-window.ts";

/** Of a model's answer as its provider sends it: ten times what the longest analyses say. */
export const ANALYSIS_ANSWER_MAX_BYTES = 2 * 1024 * 1024;

/** Of all analyses under way in a process. With the usual limits they need half of it. */
const TOTAL_BYTES = 64 * 1024 * 1024;
const OWNER_BYTES = TOTAL_BYTES / 4;

export interface AnalysisShares {
  /** Waits until an analysis of the owner's finds room in memory. @throws ServiceError cancelled when `gone` fires */
  hold(ownerId: string, gone: AbortSignal): Promise<Hold>;
}

/** Memory for the transcripts, requests and answers of analyses under way. */
export function analysisShares({ contextTokens, analysesPerOwner }: ConversationLimits): AnalysisShares {
  const shares = byteShares({
    what: "analyses",
    totalBytes: TOTAL_BYTES,
    ownerBytes: OWNER_BYTES,
    waitingMax: analysesPerOwner,
  });
  // The transcript, and the request that is made of it.
  const bytes = 2 * byteBudget(contextTokens) + ANALYSIS_ANSWER_MAX_BYTES;
  return { hold: (ownerId, gone) => shares.hold(ownerId, bytes, gone) };
}
