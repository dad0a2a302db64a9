import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { enqueueForgetting } from "@parley/shared/jobs/forget-owner";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";

export function forgetOwner({
  db,
  clock,
}: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["forgetOwner"]> {
  return async ({ ownerId }) => {
    await enqueueForgetting(db, ownerId, clock.now());
    return {};
  };
}
