/** Waits between attempts in seconds; together ten minutes. The first is longer than a status of a sent message takes. */
const WAITS_S = [10, 20, 40, 80, 160, 290];

export const GIVE_UP_MS = 10 * 60_000;

/** The wait after attempt number `attempts`, in milliseconds. @param askedMs what the other side asks for */
export function backOffMs(attempts: number, askedMs: number | null = null): number {
  const seconds = WAITS_S[Math.min(attempts, WAITS_S.length) - 1] ?? 0;
  return Math.max(seconds * 1_000, Math.min(askedMs ?? 0, GIVE_UP_MS));
}
