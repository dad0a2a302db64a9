import { STARTING_MS } from "@parley/shared/domain/start-webhook";
import type { CallRequest } from "../call/port.ts";
import { startRequest } from "../call/prepare-call.ts";
import type { CallKey } from "../store/calls.ts";
import type { DailySession } from "../store/daily-sessions.ts";
import { type DailyContext, QUEUES } from "./context.ts";

/** The job that looks after a session until its room is gone. */
export function sessionJob({ ownerId, conversationId }: CallKey, dueAt: Date) {
  return { ownerId, jobId: `daily:${conversationId}`, queue: QUEUES.session, payload: { conversationId }, dueAt };
}

type Held = Pick<
  DailySession,
  "ownerId" | "conversationId" | "agentId" | "agentVersion" | "roomName" | "roomUrl" | "dynamicVariables" | "metadata"
>;

/** The session as a call, the same each time. */
export function sessionCall(session: Held): CallRequest {
  const { ownerId, agentId, agentVersion, conversationId, roomName, roomUrl, dynamicVariables, metadata } = session;
  return {
    ownerId,
    agentId,
    agentVersion,
    conversationId,
    channel: { type: "DAILY", roomUrl: roomUrl ?? "", roomName },
    dynamicVariables,
    metadata,
    isAskedAgain: true,
  };
}

/** Begins the conversation, unless it has begun. @throws ServiceError */
export async function startSession({ conversations }: Pick<DailyContext, "conversations">, session: Held) {
  await conversations.startConversation(startRequest(sessionCall(session), session), { timeoutMs: STARTING_MS });
}
