import type { StartConversationRequest } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { newId } from "@parley/shared/ids";
import { callerOf } from "../agents/choose-version.ts";
import { newCall } from "../calls/new-call.ts";
import type { ConversationContext, Handler } from "../context.ts";
import { toConversation } from "../convert.ts";
import { startOnce, startWebhookOf } from "../start/start-once.ts";
import { channelOf } from "../start/system-values.ts";
import { keptOf, versionOf } from "../store/agent-path.ts";
import { insertCall, type NewCall } from "../store/calls.ts";
import { type ConversationRow, findConversation } from "../store/conversations.ts";

/**
 * A repeated call returns the stored conversation, ended or not, so that a runtime that lost the answer or restarted
 * can continue. A call begins once its agent's start webhook has been asked; of a text channel, with the first turn.
 */
export function startConversation(ctx: ConversationContext): Handler<"startConversation"> {
  return async (request) => {
    const call = newCall(request);
    const row = (await findConversation(ctx.db, call, ctx.clock.now())) ?? (await begin(ctx, call, request));
    if (!isSame(row, call)) {
      throw new ServiceError(
        "conflict",
        "conversation_id belongs to a conversation with other content: choose a new one",
      );
    }
    const begun = isBeginning(row) && !request.agentMayBeGone ? await ask(ctx, row) : row;
    const isRejected = begun.start?.say !== undefined;
    return { conversation: toConversation(begun, []), lastSequence: begun.messageCount, isRejected };
  };
}

/** The primary key is the claim, and it is per owner: other owners' conversations cannot take the id. */
async function begin(
  ctx: ConversationContext,
  call: NewCall,
  { agentMayBeGone, latestVersion }: Pick<StartConversationRequest, "agentMayBeGone" | "latestVersion">,
): Promise<ConversationRow> {
  const { draftId, agentVersion } = call;
  const wanted = { draftId, agentVersion, latestVersion, caller: callerOf(call) };
  const agent = await ctx.agents.choose(call.ownerId, call.agentId, wanted).catch((error) => {
    if (!(agentMayBeGone && error instanceof ServiceError && error.kind === "not_found")) throw error;
    return null;
  });
  // Tells of a call that was accepted before.
  if (!agentMayBeGone) ctx.room.refuseFull(call.ownerId);
  const now = ctx.clock.now();
  const isStarting =
    !agentMayBeGone && agent !== null && !call.test && startWebhookOf(agent, channelOf(call.type)) !== null;
  const kept = agent ? versionOf(agent) : agentVersion;
  await insertCall(ctx.db, { ...call, agentVersion: kept, isStarting }, newId("cnv"), now);
  // The same request may have won the race.
  const row = await findConversation(ctx.db, call, now);
  if (row) return row;
  throw new ServiceError("conflict", "conversation_id belongs to a conversation past retention: choose a new one");
}

function isBeginning({ type, status, start, isStarting }: ConversationRow): boolean {
  const isOpen = status === "IN_PROGRESS" && isStarting;
  return type !== "WHATSAPP" && (isOpen || start?.refusal !== undefined);
}

/** @throws ServiceError as `startOnce` does */
async function ask(ctx: ConversationContext, row: ConversationRow): Promise<ConversationRow> {
  return startOnce(ctx, row, await ctx.agents.get(row.ownerId, row.agentId, keptOf(row)));
}

/** A version is chosen once. A start webhook may have changed the agent, the variables and the metadata of a conversation. */
function isSame(row: ConversationRow, call: NewCall): boolean {
  const isChanged = row.start !== null;
  const content = (of: ConversationRow | NewCall) => ({
    agentId: ("askedAgentId" in of && of.askedAgentId) || of.agentId,
    type: of.type,
    callingType: of.callingType,
    toMobileNumber: of.toMobileNumber,
    fromMobileNumber: of.fromMobileNumber,
    telephonyProvider: of.telephonyProvider,
    roomUrl: of.roomUrl,
    roomName: of.roomName,
    metadata: isChanged || of.metadata,
    variables: isChanged || of.variables,
    isTestCall: of.isTestCall,
    draftId: of.draftId,
    testRunId: "testRunId" in of ? of.testRunId : (of.test?.runId ?? null),
  });
  return Bun.deepEquals(content(row), content(call));
}
