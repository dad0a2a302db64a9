import type { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { Handlers } from "@parley/shared/rpc/server";
import type { PromptContext } from "../context.ts";

export function forgetOwner({
  db,
  clock,
}: PromptContext): NonNullable<Handlers<typeof PromptServiceService>["forgetOwner"]> {
  return async ({ ownerId }) => {
    await enqueueForgetting(db, ownerId, clock.now());
    return {};
  };
}
