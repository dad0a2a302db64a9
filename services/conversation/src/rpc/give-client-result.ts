import { invalid } from "@parley/shared/errors";
import { isId } from "@parley/shared/ids";
import { readCall } from "../calls/read-call.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { findHandedCall } from "../store/turns/handed-calls.ts";
import { endToolCall } from "../store/turns/tool-ledger.ts";
import { endOfHanded } from "../tools/client-calls.ts";
import { countEnd } from "../tools/make-call.ts";

/** Ends a call of a client tool in a call. A turn that waits for it goes on; a conversation that has ended keeps the result. */
export function giveClientResult(ctx: ConversationContext): Handler<"giveClientResult"> {
  return async ({ ownerId, conversationId, result: given }) => {
    const { toolCallId = "" } = given ?? {};
    const key = { ownerId, conversationId, toolCallId };
    await readCall(ctx, key);
    const call = isId("tcl", toolCallId) ? await findHandedCall(ctx.db, key) : null;
    if (!given || !call)
      throw invalid("result.tool_call_id", "result.tool_call_id names no call that this conversation's client makes");
    const now = ctx.clock.now();
    const end = endOfHanded(call, given, now);
    const hasEnded = call.state === "RUNNING" && (await endToolCall(ctx.db, key, end, now)) !== null;
    if (hasEnded) countEnd("client", end.state, now.getTime() - call.handedAt.getTime());
    const { state, result } = (await findHandedCall(ctx.db, key)) ?? call;
    return { result, isError: state !== "SUCCEEDED", isTaken: hasEnded && end.isOutside };
  };
}
