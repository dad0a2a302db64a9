import type { Queue } from "@parley/shared/jobs/worker";

const RETRY_MS = [1_000, 2_000, 5_000, 15_000] as const;

/** The queue settings of jobs that tell other services about a change of an owner: they repeat until each service has answered. */
export const TELLING: Omit<Queue, "run"> = {
  concurrency: 2,
  leaseMs: 30_000,
  retryDelayMs: (attempts) => RETRY_MS[attempts - 1] ?? 30_000,
};
