import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import { newCall } from "../calls/new-call.ts";
import type { ConversationContext } from "../context.ts";
import { toConversation } from "../convert.ts";
import { insertCall, type NewCall } from "../store/calls.ts";
import { type ConversationRow, findConversation } from "../store/conversations.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["startConversation"]>;

/** A repeat is answered with what is stored, ended or not, so that a runtime that lost its answer or its memory can go on. */
export function startConversation(ctx: ConversationContext): Handler {
  return async (request) => {
    const call = newCall(request);
    const row = (await findConversation(ctx.db, call, ctx.clock.now())) ?? (await begin(ctx, call));
    if (!isSame(row, call)) {
      throw new ServiceError(
        "conflict",
        "conversation_id is taken by a conversation of other content: choose a new one",
      );
    }
    return { conversation: toConversation(row, []), lastSequence: row.messageCount };
  };
}

/** The primary key is the claim: the id is free for this owner whatever conversations others have. */
async function begin(ctx: ConversationContext, call: NewCall): Promise<ConversationRow> {
  await ctx.getAgent(call.ownerId, call.agentId);
  const now = ctx.clock.now();
  await insertCall(ctx.db, call, newId("cnv"), now);
  // Also when the same request, sent twice, was quicker the other time.
  const row = await findConversation(ctx.db, call, now);
  if (row) return row;
  throw new ServiceError("conflict", "conversation_id is that of a conversation past retention: choose a new one");
}

function isSame(row: ConversationRow, call: NewCall): boolean {
  const content = (of: ConversationRow | NewCall) => ({
    agentId: of.agentId,
    type: of.type,
    callingType: of.callingType,
    toMobileNumber: of.toMobileNumber,
    fromMobileNumber: of.fromMobileNumber,
    telephonyProvider: of.telephonyProvider,
    roomUrl: of.roomUrl,
    roomName: of.roomName,
    metadata: of.metadata,
    variables: of.variables,
    isTestCall: of.isTestCall,
  });
  return Bun.deepEquals(content(row), content(call));
}
