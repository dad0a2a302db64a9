import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Handlers } from "@parley/shared/rpc/server";
import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { AgentContext } from "../context.ts";
import { raiseKeysRevisions } from "../store/agents.ts";

export function renewKeys({ db }: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["renewKeys"]> {
  return async ({ ownerId }) => {
    await db.begin(async (tx) => {
      await lockStoredBytes(tx, ownerId);
      await raiseKeysRevisions(tx, ownerId);
    });
    return {};
  };
}
