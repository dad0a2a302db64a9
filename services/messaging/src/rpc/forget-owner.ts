import { enqueueJob } from "@parley/shared/jobs/store";
import type { Handler, MessagingContext } from "../context.ts";
import { forgetJob } from "../owners/forget-owner.ts";
import { insertDeletedOwner } from "../store/deleted-owners.ts";

export function forgetOwner({ db, clock }: MessagingContext): Handler<"forgetOwner"> {
  return async ({ ownerId }) => {
    const now = clock.now();
    await db.begin(async (tx) => {
      await insertDeletedOwner(tx, ownerId, now);
      await enqueueJob(tx, forgetJob(ownerId, now));
    });
    return {};
  };
}
