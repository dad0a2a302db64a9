import type {
  CreateDailySessionRequest,
  CreateDailySessionResponse,
} from "@parley/proto/parley/voice/v1/voice_service.ts";
import { asServiceError } from "@parley/shared/carriers/errors";
import type { Sql } from "@parley/shared/db/database";
import { invalid, ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { enqueueJob, enqueueJobOnce } from "@parley/shared/jobs/store";
import { askedVersion } from "../call/port.ts";
import { insertDailySession, type NewDailySession, storeRoom, storeStarted } from "../store/daily-sessions.ts";
import { type DailyContext, QUEUES } from "./context.ts";
import { endSession } from "./end-session.ts";
import type { DailyRoom } from "./rest.ts";
import { sessionCall, sessionJob, startSession } from "./session.ts";

const EXPIRES_IN_SECONDS = { min: 60, max: 14_400, default: 3_600 };
/** Rooms of one owner that someone is in or may still join. */
const OPEN_MAX = 100;
/** Longer than Daily takes to create a room and a token, or until this process gives up. */
const CREATED_WITHIN_MS = 60_000;
/** How long the agent waits for someone to come. */
const COMES_WITHIN_MS = 2 * 60_000;

type Asked = Omit<CreateDailySessionRequest, "idempotency">;

export interface PreparedSession {
  session: NewDailySession;
  room: DailyRoom;
  token: string;
}

/**
 * Records the session and makes Daily create its room. If anything after the row fails, a job cleans up.
 * @throws ServiceError condition without a key of Daily's or for an agent that cannot hold a call; rate_limited with too many open
 * sessions; upstream_failed with Daily's words; unavailable while Daily does not answer
 */
export async function prepareSession(ctx: DailyContext, asked: Asked): Promise<PreparedSession> {
  const { ownerId, agentId, dynamicVariables = {}, metadata = {} } = asked;
  const expiresInMs = expiresInSeconds(asked.expiresInSeconds) * 1_000;
  const connection = await ctx.connections.find(ownerId);
  if (!connection) throw new ServiceError("condition", "Daily is not configured");
  if (!ctx.hasSip)
    throw new ServiceError("condition", "Daily rooms need PARLEY_SIP_LISTEN: this installation has not set it");
  const createdAt = ctx.clock.now();
  const conversationId = newUuid();
  const asking = {
    ownerId,
    conversationId,
    agentId,
    connection: connection.connection,
    roomName: `parley-${conversationId}`,
    dynamicVariables,
    metadata,
    waitsUntil: new Date(createdAt.getTime() + CREATED_WITHIN_MS),
    // Daily counts whole seconds.
    expiresAt: new Date(Math.floor((createdAt.getTime() + expiresInMs) / 1_000) * 1_000),
    createdAt,
  };
  const { agentVersion = null, latestVersion } = asked;
  const checked = await ctx.checkAgent({ ...sessionCall({ ...asking, agentVersion, roomUrl: null }), latestVersion });
  const session: NewDailySession = { ...asking, agentVersion: askedVersion(asked, checked) };
  await ctx.db.begin(async (tx) => {
    if (!(await insertDailySession(tx, session, OPEN_MAX))) throw tooMany();
    await enqueueJob(tx, sessionJob(session, session.waitsUntil));
  });
  try {
    const { roomName, expiresAt } = session;
    const room = await connection.api.createRoom({ name: roomName, expiresAt });
    const token = await connection.api.createToken({ roomName, userId: conversationId, expiresAt });
    return { session, room, token };
  } catch (error) {
    await endSession(ctx, session, { outcome: "ERROR", durationSeconds: 0, notes: "Daily did not create the room" });
    throw asServiceError(error, "Daily");
  }
}

/** From then on the session waits for someone to join. @throws ServiceError unavailable if Daily took too long */
export async function openSession(
  tx: Sql,
  ctx: DailyContext,
  { session, room, token }: PreparedSession,
): Promise<CreateDailySessionResponse> {
  const { ownerId, conversationId, roomName, expiresAt, connection } = session;
  const now = ctx.clock.now();
  const waitsUntil = new Date(Math.min(now.getTime() + COMES_WITHIN_MS, expiresAt.getTime()));
  if (!(await storeRoom(tx, session, { roomUrl: room.url, sipUri: room.sipUri, waitsUntil })))
    throw new ServiceError("unavailable", "Daily took too long. Try again.");
  await enqueueJob(tx, sessionJob(session, now));
  if (ctx.publicUrl !== "") {
    const job = { ownerId, jobId: `daily-webhook:${connection}`, queue: QUEUES.webhook, payload: { connection } };
    await enqueueJobOnce(tx, { ...job, dueAt: now });
  }
  return { conversationId, roomUrl: room.url, roomName, token, expiresAt };
}

/** Begins the conversation, so that clients that got its id find it. If that fails, the session's job does it. Never rejects. */
export async function beginConversation(ctx: DailyContext, { session, room }: PreparedSession): Promise<void> {
  try {
    await startSession(ctx, { ...session, roomUrl: room.url });
    await storeStarted(ctx.db, session);
  } catch (err) {
    ctx.log.warn({ err, conversation_id: session.conversationId }, "a session's conversation has not begun yet");
  }
}

function expiresInSeconds(given: number | undefined): number {
  const { min, max, default: usual } = EXPIRES_IN_SECONDS;
  if (given === undefined) return usual;
  if (given < min || given > max)
    throw invalid("expires_in_seconds", `expires_in_seconds must be from ${min} to ${max}`);
  return given;
}

function tooMany(): ServiceError {
  return new ServiceError(
    "rate_limited",
    `This account has ${OPEN_MAX} Daily sessions that have not ended, which is its limit: wait until one ends`,
    { retryAfterMs: COMES_WITHIN_MS },
  );
}
