import type {
  ConversationServiceService,
  StartConversationRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import type { Handlers } from "@parley/shared/rpc/server";
import { newCall } from "../calls/new-call.ts";
import type { ConversationContext } from "../context.ts";
import { toConversation } from "../convert.ts";
import { insertCall, type NewCall } from "../store/calls.ts";
import { type ConversationRow, findConversation } from "../store/conversations.ts";

type Handler = NonNullable<Handlers<typeof ConversationServiceService>["startConversation"]>;

/**
 * A repeated call returns the stored conversation, ended or not, so that a runtime that lost the answer or restarted
 * can continue.
 */
export function startConversation(ctx: ConversationContext): Handler {
  return async (request) => {
    const call = newCall(request);
    const row = (await findConversation(ctx.db, call, ctx.clock.now())) ?? (await begin(ctx, call, request));
    if (!isSame(row, call)) {
      throw new ServiceError(
        "conflict",
        "conversation_id belongs to a conversation with other content: choose a new one",
      );
    }
    return { conversation: toConversation(row, []), lastSequence: row.messageCount };
  };
}

/** The primary key is the claim, and it is per owner: other owners' conversations cannot take the id. */
async function begin(
  ctx: ConversationContext,
  call: NewCall,
  { agentMayBeGone }: Pick<StartConversationRequest, "agentMayBeGone">,
): Promise<ConversationRow> {
  await ctx.getAgent(call.ownerId, call.agentId, call.draftId).catch((error) => {
    if (!(agentMayBeGone && error instanceof ServiceError && error.kind === "not_found")) throw error;
  });
  // Tells of a call that was accepted before.
  if (!agentMayBeGone) ctx.room.refuseFull(call.ownerId);
  const now = ctx.clock.now();
  await insertCall(ctx.db, call, newId("cnv"), now);
  // The same request may have won the race.
  const row = await findConversation(ctx.db, call, now);
  if (row) return row;
  throw new ServiceError("conflict", "conversation_id belongs to a conversation past retention: choose a new one");
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
    draftId: of.draftId,
  });
  return Bun.deepEquals(content(row), content(call));
}
