import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { Handler } from "../context.ts";
import { insertDeletedOwner } from "../store/deleted-owners.ts";

export function forgetOwner({ db, clock }: { db: Database; clock: Clock }): Handler<"forgetOwner"> {
  return async ({ ownerId }) => {
    const now = clock.now();
    await db.begin(async (tx) => {
      await insertDeletedOwner(tx, ownerId, now);
      await enqueueForgetting(tx, ownerId, now);
    });
    return {};
  };
}
