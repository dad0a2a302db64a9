/** How long a job works for one owner before the next owner has a turn, in milliseconds. */
const TURN_MS = 5_000;

/** Starts a turn. @returns a function that tells whether the turn is over or its lease lost */
export function turnOf(lease: AbortSignal): () => boolean {
  const endsAt = performance.now() + TURN_MS;
  return () => lease.aborted || performance.now() >= endsAt;
}
