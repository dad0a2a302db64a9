import { isId } from "@parley/shared/ids";
import type { AgentContext, Handler } from "../context.ts";
import { findAgentsCalled } from "../store/called-agents.ts";

const NUMBER = /^\+[1-9]\d{1,14}$/;

/** Returns whose agent a call is for. Two agents with one number count as none, because the call could be for either. */
export function findCallee(ctx: AgentContext): Handler<"findCallee"> {
  return async ({ called, ofOwnerId }) => {
    if (!isId("agt", called) && !NUMBER.test(called)) return { agent: undefined };
    const [agent, other] = await findAgentsCalled(ctx.db, called, ofOwnerId ?? null);
    return { agent: other ? undefined : agent };
  };
}
