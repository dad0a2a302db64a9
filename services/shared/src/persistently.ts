import { setTimeout as sleep } from "node:timers/promises";

export interface Persistence {
  /** Milliseconds to wait after each failed try; the try after the last of them is the last. */
  delaysMs: Iterable<number>;
  /** Tells of a failure, and whether another try may follow after `delayMs`. */
  goesOn(error: unknown, delayMs: number): boolean;
}

/** Does the work until it succeeds. @throws what a try fails with that is the last */
export async function persistently<T>(work: () => Promise<T>, { delaysMs, goesOn }: Persistence): Promise<T> {
  for (const delayMs of delaysMs) {
    try {
      return await work();
    } catch (error) {
      if (!goesOn(error, delayMs)) throw error;
      await sleep(delayMs);
    }
  }
  return work();
}

/** The same delay forever. */
export function* every(delayMs: number): Generator<number> {
  for (;;) yield delayMs;
}
