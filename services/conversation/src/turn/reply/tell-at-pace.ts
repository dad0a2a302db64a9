import type { Pace } from "@parley/shared/shares/pace";
import type { WaitForReader } from "./reader-patience.ts";

export interface Telling {
  /** Takes the next words. @returns a promise while their reader is behind, or null */
  tell(text: string): Promise<void> | null;
  /** Null if the turn does not wait for its reader. */
  waitForReader: WaitForReader | null;
  /** In characters. */
  pace: Pace;
  ownerId: string;
  /** Ends the wait for the owner's pace. */
  signal: AbortSignal;
}

/**
 * Tells a reply's words as they complete. The returned promise settles once the turn may read more of its model's answer: when
 * the reader is not behind, and the owner's replies keep their pace.
 */
export function tellAtPace({ tell, waitForReader, pace, ownerId, signal }: Telling): Telling["tell"] {
  return (text) => {
    const slowDown = pace.take(ownerId, text.length, signal);
    const behind = tell(text);
    const caughtUp = behind && waitForReader?.(behind);
    if (slowDown && caughtUp) return Promise.all([slowDown, caughtUp]).then(() => {});
    return slowDown ?? caughtUp ?? null;
  };
}
