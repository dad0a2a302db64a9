import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { Handler, KnowledgeContext } from "../context.ts";

export function forgetOwner({ db, clock }: KnowledgeContext): Handler<"forgetOwner"> {
  return async ({ ownerId }) => {
    await enqueueForgetting(db, ownerId, clock.now());
    return {};
  };
}
