import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { Handler, PromptContext } from "../context.ts";

export function forgetOwner({ db, clock }: PromptContext): Handler<"forgetOwner"> {
  return async ({ ownerId }) => {
    await enqueueForgetting(db, ownerId, clock.now());
    return {};
  };
}
