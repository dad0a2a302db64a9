/** How long a job works for one owner before it yields to other owners' jobs, in milliseconds. */
const SLICE_MS = 5_000;

/** Starts a job's time slice. @returns a function that tells whether the slice is over or the job's lease is lost */
export function timeSlice(lease: AbortSignal): () => boolean {
  const endsAt = performance.now() + SLICE_MS;
  return () => lease.aborted || performance.now() >= endsAt;
}
