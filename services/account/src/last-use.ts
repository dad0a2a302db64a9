/** Recorded this rarely so that a read does not cause a write. */
const NOTED_EVERY_MS = 5 * 60 * 1000;

/** Whether to record the use of a session or a key again. @param lastUsedAt the recorded time; null for never */
export function isUseNews(lastUsedAt: Date | null, now: Date): boolean {
  return lastUsedAt === null || now.getTime() - lastUsedAt.getTime() >= NOTED_EVERY_MS;
}
