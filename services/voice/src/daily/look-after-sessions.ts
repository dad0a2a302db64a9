import { CarrierRefusal, CarrierUnavailable } from "@parley/shared/carriers/errors";
import { ServiceError } from "@parley/shared/errors";
import type { Queue } from "@parley/shared/jobs/worker";
import { complete } from "../call/complete-call.ts";
import { MAY_PASS } from "../call/transcript.ts";
import {
  type DailySession,
  findDailySession,
  storeAbsent,
  storeCompleted,
  storeJoined,
  storeOver,
  storeRoomGone,
  storeStarted,
} from "../store/daily-sessions.ts";
import { isHeld } from "../store/outbound-calls.ts";
import type { DailyContext } from "./context.ts";
import { endOf, endSession } from "./end-session.ts";
import { joinRoom } from "./join-room.ts";
import { startSession } from "./session.ts";

/** Interval between checks of a room: webhooks are faster, and Daily limits requests. */
const WAITING_MS = 4_000;
const HELD_MS = 15_000;
/** Interval between attempts to end a call. */
const AGAIN_MS = 2_000;
/** Daily's list of who is in a room lags by up to 15 seconds. */
const ABSENT_MS = 20_000;
/** Daily deletes a room itself when it has expired. */
const ROOM_KEPT_MS = 60 * 60_000;

/**
 * Looks after each session from its beginning until its room is gone. Each session has a job, so that this survives the death
 * of a process; webhooks make it run at once.
 */
export function lookAfterSessions(ctx: DailyContext): Queue {
  return {
    concurrency: 32,
    perOwner: 8,
    run: async ({ ownerId, payload }) => {
      const { conversationId } = payload as { conversationId: string };
      const session = await findDailySession(ctx.db, { ownerId, conversationId });
      const afterMs = session && (await look(ctx, session));
      if (afterMs !== null) return new Date(ctx.clock.now().getTime() + afterMs);
    },
  };
}

/** @returns when to look again, in milliseconds; null for never */
async function look(ctx: DailyContext, session: DailySession): Promise<number | null> {
  switch (session.status) {
    case "CREATING":
      return creating(ctx, session);
    case "WAITING":
      return waiting(ctx, session);
    case "IN_PROGRESS":
      return inProgress(ctx, session);
    case "ENDED":
      return ended(ctx, session);
  }
}

/** The process that asked Daily for the room has until then. */
async function creating(ctx: DailyContext, session: DailySession): Promise<number> {
  const leftMs = session.waitsUntil.getTime() - ctx.clock.now().getTime();
  if (leftMs > 0) return leftMs;
  await end(ctx, session, "ERROR", "The process that asked Daily for the room stopped unexpectedly");
  return 0;
}

async function waiting(ctx: DailyContext, session: DailySession): Promise<number> {
  if (await isHeld(ctx.db, session)) return session.isOver ? leave(ctx, session) : AGAIN_MS;
  if (!session.isStarted && !(await started(ctx, session))) return 0;
  const leftMs = session.waitsUntil.getTime() - ctx.clock.now().getTime();
  let stay = session.participantId;
  if (stay === null) {
    if (leftMs <= 0) {
      await end(ctx, session, "NO_ANSWER", "Nobody entered the room within two minutes");
      return 0;
    }
    const stays = await presentIn(ctx, session);
    if (stays === undefined) return WAITING_MS;
    if (stays === null) {
      await end(ctx, session, "CANCELLED", "The room was deleted");
      return 0;
    }
    for (const each of stays) await storeJoined(ctx.db, session, each);
    stay = (await findDailySession(ctx.db, session))?.participantId ?? null;
  }
  if (stay === null) return Math.min(WAITING_MS, Math.max(0, leftMs));
  return join(ctx, session, leftMs);
}

async function join(ctx: DailyContext, session: DailySession, leftMs: number): Promise<number> {
  try {
    await joinRoom(ctx, session);
    return HELD_MS;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    const mayPass = error.kind === "rate_limited" || MAY_PASS.has(error.kind);
    if (mayPass && leftMs > 0) return AGAIN_MS;
    ctx.log.info({ err: error, conversation_id: session.conversationId }, "an agent did not join its Daily room");
    if (!(await isHeld(ctx.db, session))) await end(ctx, session, "ERROR", error.detail);
    return 0;
  }
}

/** @returns false if the session has ended, because its conversation cannot begin */
async function started(ctx: DailyContext, session: DailySession): Promise<boolean> {
  try {
    await startSession(ctx, session);
  } catch (error) {
    if (!(error instanceof ServiceError && HOPELESS.has(error.kind))) throw error;
    // For example because the agent was deleted in the meantime.
    await end(ctx, session, "ERROR", error.detail);
    return false;
  }
  await storeStarted(ctx.db, session);
  return true;
}

/** `upstream_failed`: of the agent's start webhook. */
const HOPELESS = new Set<ServiceError["kind"]>([
  ...(["not_found", "forbidden", "invalid", "conflict", "condition", "upstream_failed"] as const),
]);

async function inProgress(ctx: DailyContext, session: DailySession): Promise<number> {
  if (!(await isHeld(ctx.db, session))) {
    await end(ctx, session, "ERROR", "The call was lost");
    return 0;
  }
  if (session.isOver) return leave(ctx, session);
  const now = ctx.clock.now();
  const stays = await presentIn(ctx, session);
  // The call continues while Daily's API is down.
  if (stays === undefined) return HELD_MS;
  if (stays !== null && stays.length > 0) {
    if (session.absentSince !== null) await storeAbsent(ctx.db, session, null);
    return HELD_MS;
  }
  const absentSince = session.absentSince ?? now;
  if (stays === null || now.getTime() - absentSince.getTime() >= ABSENT_MS) {
    await storeOver(ctx.db, session);
    return leave(ctx, session);
  }
  await storeAbsent(ctx.db, session, absentSince);
  return ABSENT_MS;
}

/** The process that holds the call hangs up, and notes the end. */
async function leave(ctx: DailyContext, session: DailySession): Promise<number> {
  await ctx.signals.tell(session, "hang_up");
  return AGAIN_MS;
}

async function ended(ctx: DailyContext, session: DailySession): Promise<number | null> {
  if (session.isToComplete) {
    await completeSession(ctx, session);
    await storeCompleted(ctx.db, session);
  }
  if (session.isRoomGone) return null;
  await deleteRoom(ctx, session);
  await storeRoomGone(ctx.db, session);
  return null;
}

async function completeSession(ctx: DailyContext, session: DailySession): Promise<void> {
  if (!session.isStarted) {
    try {
      await startSession(ctx, session);
    } catch (error) {
      if (!(error instanceof ServiceError && HOPELESS.has(error.kind))) throw error;
      ctx.log.warn({ err: error, conversation_id: session.conversationId }, "an ended session has no conversation");
      return;
    }
  }
  await complete(ctx.conversations, session, endOf(session));
}

/** @throws while Daily is down, until it has deleted the room itself */
async function deleteRoom(ctx: DailyContext, session: DailySession): Promise<void> {
  const { ownerId, conversationId, connection: name, roomName, expiresAt } = session;
  const connection = await ctx.connections.get(ownerId, name);
  try {
    await connection?.api.deleteRoom(roomName);
  } catch (err) {
    const isLate = ctx.clock.now().getTime() > expiresAt.getTime() + ROOM_KEPT_MS;
    if (!isLate && !(err instanceof CarrierRefusal)) throw err;
    ctx.log.warn({ err, conversation_id: conversationId }, "a Daily room was not deleted, and expires by itself");
  }
}

/**
 * The stays of the other party in the room; null if there is no such room, or nobody may look into it anymore; undefined if Daily
 * does not say.
 */
async function presentIn(ctx: DailyContext, session: DailySession): Promise<string[] | null | undefined> {
  const connection = await ctx.connections.get(session.ownerId, session.connection);
  if (!connection) return null;
  try {
    return await connection.api.present(session.roomName, session.conversationId);
  } catch (err) {
    if (!(err instanceof CarrierRefusal || err instanceof CarrierUnavailable)) throw err;
    ctx.log.warn({ err, conversation_id: session.conversationId }, "Daily did not say who is in a room");
    return undefined;
  }
}

function end(
  ctx: DailyContext,
  session: DailySession,
  outcome: "ERROR" | "NO_ANSWER" | "CANCELLED",
  notes: string,
): Promise<void> {
  return endSession(ctx, session, { outcome, durationSeconds: 0, notes });
}
