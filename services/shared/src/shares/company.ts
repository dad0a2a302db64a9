import { type PassingTime, passingTime } from "./passing-time.ts";

/** How long after another owner's request an owner counts as one of several. */
const REMEMBERED_MS = 1_000;

/** Tells whether a process works for one owner alone. */
export interface Company {
  /** Notes that an owner asks for something. */
  enter(ownerId: string): void;
  /** Whether the owner was the last to ask, and no other has in the last second. */
  isAlone(ownerId: string): boolean;
}

/**
 * An owner that is alone may have places that nobody else needs, because work that is done together takes less CPU time. Others
 * would have to wait for it, so it ends as soon as they come.
 */
export function createCompany({ nowMs }: Pick<PassingTime, "nowMs"> = passingTime): Company {
  let last: string | null = null;
  /** When the process last changed from one owner to another. */
  let changedMs = Number.NEGATIVE_INFINITY;
  return {
    enter: (ownerId) => {
      if (last === ownerId) return;
      if (last !== null) changedMs = nowMs();
      last = ownerId;
    },
    isAlone: (ownerId) => last === ownerId && nowMs() - changedMs >= REMEMBERED_MS,
  };
}

/** The owners that this process works for. */
export const company: Company = createCompany();
