import { CarrierRefusal } from "@parley/shared/carriers/errors";
import type { Database, Sql } from "@parley/shared/db/database";
import { enqueueJob } from "@parley/shared/jobs/store";
import type { Queue } from "@parley/shared/jobs/worker";
import type { Logger } from "@parley/shared/log";
import { deleteUnneededCarriers, findEvenDisconnected } from "../store/carriers.ts";
import { findNumber, type NumberRow } from "../store/mobile-numbers.ts";
import { findRestore, insertRestore, type RestoreRow, takeRestore } from "../store/number-restores.ts";
import type { Carriers } from "./carriers.ts";

const QUEUE = "restore-number";
const MINUTE_MS = 60_000;
const RETRY_MS = [5_000, MINUTE_MS, 10 * MINUTE_MS] as const;
const LATER_MS = 60 * MINUTE_MS;
/** How often a carrier that refuses is asked again, for about a day: its account may be suspended, or its token replaced. */
const REFUSED_MAX = 24;

/**
 * In the transaction that removes a number, requests the restoration of its settings at its carrier, now or, while the carrier is
 * down, later.
 */
export async function promiseRestore(
  tx: Sql,
  { ownerId, mobileNumber, carrierId, before }: NumberRow,
  now: Date,
): Promise<void> {
  if (carrierId === null) return;
  await insertRestore(tx, { ownerId, mobileNumber, carrierId, before: before ?? {} }, now);
  const payload = { mobileNumber };
  await enqueueJob(tx, { ownerId, jobId: `${QUEUE} ${mobileNumber}`, queue: QUEUE, payload, dueAt: now });
}

export function restoreQueue(ctx: { db: Database; carriers: Carriers; log: Logger }): Record<string, Queue> {
  return {
    [QUEUE]: {
      concurrency: 4,
      retryDelayMs: (attempts) => RETRY_MS[attempts - 1] ?? LATER_MS,
      run: async ({ ownerId, payload, attempts }) => {
        const { mobileNumber } = payload as { mobileNumber: string };
        const wanted = await findRestore(ctx.db, ownerId, mobileNumber);
        if (!wanted) return;
        await restore(ctx, wanted).catch((err) => {
          if (!(err instanceof CarrierRefusal) || attempts < REFUSED_MAX) throw err;
          ctx.log.error(
            { err, owner_id: ownerId, mobile_number: mobileNumber },
            "a removed number still sends its calls here",
          );
        });
        await ctx.db.begin(async (tx) => {
          await takeRestore(tx, ownerId, mobileNumber);
          await deleteUnneededCarriers(tx, ownerId);
        });
        await pointAgain(ctx, wanted);
      },
    },
  };
}

async function restore({ db, carriers }: { db: Database; carriers: Carriers }, wanted: RestoreRow): Promise<void> {
  const row = await findEvenDisconnected(db, wanted);
  await (row && carriers.open(row).numbers?.restore(wanted.mobileNumber, wanted.before));
}

/** The number may have been imported again while it was restored. */
async function pointAgain({ db, carriers }: { db: Database; carriers: Carriers }, wanted: RestoreRow): Promise<void> {
  const { ownerId, mobileNumber, carrierId } = wanted;
  const known = await findNumber(db, ownerId, mobileNumber);
  if (known?.carrierId !== carrierId || known.replacedAt !== null) return;
  const row = await findEvenDisconnected(db, wanted);
  await (row && carriers.open(row).numbers?.point(mobileNumber));
}
