import type { AgentPointer } from "@parley/proto/parley/agent/v1/agent.ts";
import { Access } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { isId } from "@parley/shared/ids";
import type { AgentContext, Handler } from "../context.ts";
import { readAccess } from "../read-agents.ts";
import { type AgentState, findStates } from "../store/agents.ts";

/** Each new conversation asks this: one query for any number. */
export function batchGetPointers({ db, pricesHash }: AgentContext): Handler<"batchGetPointers"> {
  return async ({ keys }) => {
    const possible = keys.filter(({ agentId }) => isId("agt", agentId));
    const states = await findStates(db, possible);
    const byId = new Map(states.map((state) => [`${state.ownerId} ${state.agentId}`, state]));
    const stateOf = ({ ownerId, agentId }: (typeof keys)[number]) => byId.get(`${ownerId} ${agentId}`);
    const accessOf = await readAccess(
      db,
      possible.filter((key) => !stateOf(key)),
    );
    return {
      results: keys.map((key) => {
        const state = stateOf(key);
        return state
          ? { access: Access.ACCESS_GRANTED, pointer: { ...toPointer(state), pricesHash } }
          : { access: accessOf(key), pointer: undefined };
      }),
    };
  };
}

function toPointer({
  publishedVersion,
  latestVersion,
  traffic,
  keysRevision,
}: AgentState): Omit<AgentPointer, "pricesHash"> {
  return {
    publishedVersion: publishedVersion ?? undefined,
    latestVersion,
    salt: traffic?.salt ?? "",
    slots: traffic?.slots ?? [],
    keysRevision,
  };
}
