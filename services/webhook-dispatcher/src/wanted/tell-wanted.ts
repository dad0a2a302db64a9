import type { Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { DEFAULT_EVENTS, type EventName } from "@parley/shared/portable/events";
import type { DispatcherContext } from "../context.ts";
import type { DestinationRow } from "../store/destinations.ts";
import { findWanted, reviseWanted } from "../store/wanted.ts";

const QUEUE = "tell-wanted";
/** The longest that a change of a destination waits for the conversation service. */
const NOW_WITHIN_MS = 1_000;

/**
 * Enqueues, in the transaction of the change of a destination, a job that tells the conversation service which events its owner wants, so
 * that it stores no others. Everybody gets the ends of conversations.
 * @param changed the destination before and after, null where it was or is not there
 * @returns whether there is anything to tell
 */
export async function promiseWanted(
  tx: Sql,
  ownerId: string,
  changed: readonly (Pick<DestinationRow, "events" | "enabled"> | null)[],
  now: Date,
): Promise<boolean> {
  const wanted = changed.map((row) => (row?.enabled ? furtherOf(row.events) : ""));
  if (new Set(wanted).size === 1) return false;
  await reviseWanted(tx, ownerId);
  await enqueueJob(tx, { ownerId, jobId: QUEUE, queue: QUEUE, payload: {}, dueAt: now });
  return true;
}

function furtherOf(events: readonly EventName[]): string {
  const ends: readonly EventName[] = DEFAULT_EVENTS;
  return events
    .filter((event) => !ends.includes(event))
    .toSorted()
    .join(" ");
}

/** Tells it at once, so that the events of whatever happens after the change are sent; if this fails, the job does it. */
export async function tellWantedNow(ctx: DispatcherContext, ownerId: string, log: Logger): Promise<void> {
  try {
    await tellWanted(ctx, ownerId);
  } catch (err) {
    log.warn(
      { err, owner_id: ownerId },
      "cannot tell the conversation service now which events an owner wants; a job will do it",
    );
  }
}

/** Never gives up. */
export function wantedQueue(ctx: DispatcherContext): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 2,
      run: ({ ownerId }) => tellWanted(ctx, ownerId),
    },
  };
}

/** Sends what is stored: the revision orders concurrent calls. */
async function tellWanted({ db, conversations }: DispatcherContext, ownerId: string): Promise<void> {
  const wanted = await findWanted(db, ownerId);
  if (wanted) await conversations.setWantedEvents({ ownerId, ...wanted }, { timeoutMs: NOW_WITHIN_MS });
}
