import { lockStoredBytes } from "@parley/shared/stored-bytes/room";
import type { AgentContext, Handler } from "../context.ts";
import { raiseKeysRevisions } from "../store/agents.ts";

export function renewKeys({ db }: AgentContext): Handler<"renewKeys"> {
  return async ({ ownerId }) => {
    await db.begin(async (tx) => {
      await lockStoredBytes(tx, ownerId);
      await raiseKeysRevisions(tx, ownerId);
    });
    return {};
  };
}
