import { ServiceError } from "@parley/shared/errors";
import type { Queue } from "@parley/shared/jobs/worker";
import { complete } from "../call/complete-call.ts";
import { startRequest } from "../call/prepare-call.ts";
import { findOutboundCall, type OutboundCall } from "../store/outbound-calls.ts";
import { callRequest } from "./call-request.ts";
import { JOB_LEASE_MS, type OutboundContext, QUEUES } from "./context.ts";
import { endOf } from "./end-call.ts";

/** Completes the conversations of calls that no process held. The name of its queue is in `QUEUES`. */
export function completeCalls(ctx: Pick<OutboundContext, "db" | "conversations" | "log">): Queue {
  return {
    concurrency: 16,
    leaseMs: JOB_LEASE_MS,
    run: async ({ ownerId, payload }) => {
      const { callId } = payload as { callId: string };
      const call = await findOutboundCall(ctx.db, { ownerId, callId });
      if (call) await completeCall(ctx, call);
    },
  };
}

async function completeCall(
  { conversations, log }: Pick<OutboundContext, "conversations" | "log">,
  call: OutboundCall,
): Promise<void> {
  try {
    // The agent may have been deleted while its call waited.
    await conversations.startConversation({ ...startRequest(callRequest(call), call), agentMayBeGone: true });
  } catch (error) {
    if (!(error instanceof ServiceError && HOPELESS.has(error.kind))) throw error;
    log.warn({ err: error, call_id: call.callId, queue: QUEUES.complete }, "an ended call has no conversation");
    return;
  }
  await complete(conversations, call, endOf(call));
}

const HOPELESS = new Set<ServiceError["kind"]>(["not_found", "forbidden", "invalid", "conflict"]);
