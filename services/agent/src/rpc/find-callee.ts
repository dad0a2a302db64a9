import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import { isId } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import type { AgentContext } from "../context.ts";
import { findAgentsCalled } from "../store/called-agents.ts";

const NUMBER = /^\+[1-9]\d{1,14}$/;

/** Returns whose agent a call is for. Two agents with one number count as none, because the call could be for either. */
export function findCallee(ctx: AgentContext): NonNullable<Handlers<typeof AgentServiceService>["findCallee"]> {
  return async ({ called, ofOwnerId }) => {
    if (!isId("agt", called) && !NUMBER.test(called)) return { agent: undefined };
    const [agent, other] = await findAgentsCalled(ctx.db, called, ofOwnerId ?? null);
    return { agent: other ? undefined : agent };
  };
}
