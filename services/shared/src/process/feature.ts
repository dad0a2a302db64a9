import type { Clock } from "../clock.ts";
import type { Database } from "../db/database.ts";
import { type Sweep, startSweeps, sweepQueues } from "../jobs/sweeps.ts";
import { type Queue, startWorker, type WorkerSettings } from "../jobs/worker.ts";
import type { Logger } from "../log.ts";
import type { Definition } from "../rpc/definition.ts";
import type { Handlers } from "../rpc/server.ts";

/** What a feature of a service does, and how it ends. It has only the members that it needs. */
export interface Feature<D extends Definition> {
  /** Its RPCs. */
  handlers?: Handlers<D>;
  /** Its jobs. */
  queues?: Readonly<Record<string, Queue>>;
  sweeps?: readonly Sweep[];
  /** Ends streams of its RPCs that never end by themselves, before calls in progress are waited for. */
  endStreams?(): Promise<unknown>;
  /** Ends what it still does, and releases what it holds. Called once its jobs have ended. */
  stop?(): Promise<unknown> | unknown;
}

type Background = Pick<Feature<Definition>, "queues" | "sweeps" | "stop">;

interface BackgroundContext extends WorkerSettings {
  db: Database;
  clock: Clock;
  log: Logger;
}

/** All RPCs of a service. @throws Error if two features have the same */
export function handlersOf<D extends Definition>(features: readonly Feature<D>[]): Handlers<D> {
  return unique(features.map(({ handlers = {} }) => handlers)) as Handlers<D>;
}

/**
 * Runs the jobs and sweeps of features in one worker.
 * @returns stops the sweeps first, then one feature after another, in the order of the list: the jobs of each end before its `stop` is
 *   called
 */
export async function startFeatures(
  features: readonly Background[],
  { db, clock, log, ...settings }: BackgroundContext,
): Promise<{ stop(): Promise<void> }> {
  const stopping = new AbortController();
  const sweeps = features.flatMap((feature) => feature.sweeps ?? []);
  const sweeping = sweepQueues(clock, log, sweeps, stopping.signal);
  const queues = unique([sweeping, ...features.map((feature) => feature.queues ?? {})]);
  const worker = startWorker(db, queues, log, { clock, ...settings });
  await startSweeps(db, clock, sweeps);
  return {
    stop: async () => {
      stopping.abort();
      await worker.stopQueues(Object.keys(sweeping));
      for (const feature of features) {
        await worker.stopQueues(Object.keys(feature.queues ?? {}));
        await feature.stop?.();
      }
      await worker.stop();
    },
  };
}

function unique<T>(parts: readonly Readonly<Record<string, T>>[]): Record<string, T> {
  const all: Record<string, T> = {};
  for (const [name, each] of parts.flatMap((part) => Object.entries(part))) {
    if (name in all) throw new Error(`Two features have ${name}`);
    all[name] = each;
  }
  return all;
}
