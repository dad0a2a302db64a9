/** How long a job of one owner goes on while there is more to do, milliseconds. Then the next owner has a turn. */
const TURN_MS = 5_000;

/** Begins a turn. @returns whether it is over, or its lease is lost */
export function turnOf(lease: AbortSignal): () => boolean {
  const endsAt = performance.now() + TURN_MS;
  return () => lease.aborted || performance.now() >= endsAt;
}
