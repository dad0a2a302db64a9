import { setTimeout as sleep } from "node:timers/promises";

export interface Persistence {
  /** Milliseconds to wait after each failed attempt; the attempt after the last wait is the last. */
  delaysMs: Iterable<number>;
  /** Called after a failure; returns whether another attempt may follow after `delayMs`. */
  goesOn(error: unknown, delayMs: number): boolean;
}

/** Does the work until it succeeds. @throws the error of the last attempt */
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

/** Twice the delay each time, forever. */
export function* doubling(firstMs: number): Generator<number> {
  for (let delayMs = firstMs; ; delayMs *= 2) yield delayMs;
}
