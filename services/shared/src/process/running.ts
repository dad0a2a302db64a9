import type { Logger } from "../log.ts";

export interface Running {
  address: string;
  /** Finishes running work, then releases all resources. */
  stop(): Promise<void>;
}

export type Start = (log: Logger) => Promise<Running>;
/** One-off tasks, by the argument that runs them instead of the service. */
export type Errands = Readonly<Record<string, (log: Logger) => Promise<void>>>;
