import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { Handler, MessagingContext } from "../context.ts";
import { insertDeletedOwner } from "../store/deleted-owners.ts";

export function forgetOwner({ db, clock }: MessagingContext): Handler<"forgetOwner"> {
  return async ({ ownerId }) => {
    const now = clock.now();
    await db.begin(async (tx) => {
      await insertDeletedOwner(tx, ownerId, now);
      await enqueueForgetting(tx, ownerId, now);
    });
    return {};
  };
}
