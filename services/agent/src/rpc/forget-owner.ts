import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { AgentContext, Handler } from "../context.ts";

export function forgetOwner({ db, clock }: AgentContext): Handler<"forgetOwner"> {
  return async ({ ownerId }) => {
    await enqueueForgetting(db, ownerId, clock.now());
    return {};
  };
}
