import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { Handler } from "../feature.ts";
import { hasCallsToEnd } from "../store/owner-rows.ts";

export function forgetOwner({ db, clock }: { db: Database; clock: Clock }): Handler<"forgetOwner"> {
  return async ({ ownerId }) => {
    await enqueueForgetting(db, ownerId, clock.now());
    return { needsCarriers: await hasCallsToEnd(db, ownerId) };
  };
}
