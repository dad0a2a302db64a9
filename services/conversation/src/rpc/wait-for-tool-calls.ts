import { setTimeout as sleep } from "node:timers/promises";
import { invalid } from "@parley/shared/errors";
import { readCall } from "../calls/read-call.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { listEndedCalls } from "../store/turns/tool-ledger.ts";
import { LOOK_MS } from "../tools/look-at-handed.ts";

const CALLS_MAX = 320;

/** Waits until a call has ended, wherever it is made, or the caller's time is up. */
export function waitForToolCalls(ctx: ConversationContext): Handler<"waitForToolCalls"> {
  return async ({ ownerId, conversationId, toolCallIds }, { signal, stopping }) => {
    if (toolCallIds.length === 0 || toolCallIds.length > CALLS_MAX)
      throw invalid("tool_call_ids", `tool_call_ids must be 1 to ${CALLS_MAX}`);
    const key = { ownerId, conversationId };
    await readCall(ctx, key);
    const over = AbortSignal.any([signal, stopping]);
    for (;;) {
      const ended = await listEndedCalls(ctx.db, key, toolCallIds, ctx.clock.now());
      if (ended.length > 0 || over.aborted) return { ended };
      await sleep(LOOK_MS, undefined, { signal: over }).catch(() => {});
    }
  };
}
