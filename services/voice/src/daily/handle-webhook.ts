import { dailySignature } from "@parley/shared/carriers/signatures";
import { invalid, notFound, ServiceError } from "@parley/shared/errors";
import { enqueueJob } from "@parley/shared/jobs/store";
import { parseObject } from "@parley/shared/json/json-object";
import { isSameSecret } from "@parley/shared/sealing";
import { counter } from "@parley/shared/telemetry/instruments";
import { type DailySession, findSessionOfRoom, storeJoined, storeLeft, storeOver } from "../store/daily-sessions.ts";
import { isHeld } from "../store/outbound-calls.ts";
import type { DailyConnection } from "./connections.ts";
import type { DailyContext } from "./context.ts";
import { sessionJob } from "./session.ts";

/** The events that sessions need; Daily may send more. */
export const EVENTS = ["participant.joined", "participant.left", "meeting.ended", "dialin.ready"] as const;

interface DailyWebhook {
  /** car_…, or `operator`. */
  connection: string;
  /** The body as it was sent. */
  body: Uint8Array;
  signature: string;
  timestamp: string;
}

interface Event {
  type: string;
  room: string;
  sessionId: string;
  userId: string;
  /** Unix time in seconds. */
  endTs: number;
}

const received = counter("parley.daily.webhooks", "Webhooks of Daily by result");
/** Limit for texts that are compared with stored ones, in characters. */
const TEXT_MAX = 200;

/**
 * Applies Daily's report about a room. Webhooks may arrive late, twice, and out of order, and again years later: each reports one stay or
 * meeting that has begun or ended, which stays true.
 * @param gone fires when the sender no longer waits
 * @throws ServiceError not_found for an unknown connection, forbidden for a wrong signature, invalid for a body that is no event,
 *   rate_limited when too many for the same connection wait to be verified
 */
export async function handleWebhook(ctx: DailyContext, webhook: DailyWebhook, gone: AbortSignal): Promise<void> {
  const count = (result: string) => received().add(1, { result });
  const find = () => ctx.connections.ofWebhook(webhook.connection);
  const connection = await ctx.verifyFewAtOnce(webhook.connection, gone, find);
  if (!connection) {
    count("unknown");
    throw notFound("Connection");
  }
  // Daily tests the address with this body before it creates a webhook.
  if (isTest(webhook.body)) return count("test");
  if (!isSigned(connection, webhook)) {
    count("forged");
    throw new ServiceError("forbidden", "Daily's signature is wrong");
  }
  const event = readEvent(webhook.body);
  const session = event.room === "" ? null : await findSessionOfRoom(ctx.db, event.room);
  // Daily reports every room of the domain, and gives up on an address that refuses.
  if (!session || !isOf(session, connection) || session.status === "ENDED") return count("ignored");
  count("accepted");
  await apply(ctx, session, event);
}

/**
 * Whether webhooks may name this connection. Reads no secrets: anyone may ask, by sending a webhook to the gateway.
 * @throws ServiceError not_found, rate_limited
 */
export async function checkConnection(ctx: DailyContext, connection: string, gone: AbortSignal): Promise<void> {
  if (await ctx.verifyFewAtOnce(connection, gone, () => ctx.connections.has(connection))) return;
  received().add(1, { result: "unknown" });
  throw notFound("Connection");
}

async function apply(ctx: DailyContext, session: DailySession, event: Event): Promise<void> {
  const isOfOther = event.userId === session.conversationId && event.sessionId !== "";
  if (event.type === "participant.joined" && isOfOther) await storeJoined(ctx.db, session, event.sessionId);
  else if (event.type === "participant.left" && isOfOther)
    await storeLeft(ctx.db, session, event.sessionId, await isHeld(ctx.db, session));
  else if (event.type === "meeting.ended" && isAfter(event, session)) await storeOver(ctx.db, session);
  else if (event.type !== "dialin.ready") return;
  await enqueueJob(ctx.db, sessionJob(session, ctx.clock.now()));
}

/** A meeting that ended before the agent joined does not end the session. */
function isAfter({ endTs }: Event, { answeredAt }: DailySession): boolean {
  return answeredAt !== null && endTs * 1_000 >= answeredAt.getTime();
}

function isSigned({ webhookSecret }: DailyConnection, { body, signature, timestamp }: DailyWebhook): boolean {
  return timestamp !== "" && isSameSecret(signature, dailySignature(webhookSecret, timestamp, body));
}

/** A webhook of a domain concerns only that domain's sessions. */
function isOf(session: DailySession, { connection, ownerId }: DailyConnection): boolean {
  return session.connection === connection && (ownerId === null || session.ownerId === ownerId);
}

function isTest(body: Uint8Array): boolean {
  const { test, type } = parseObject(Buffer.from(body).toString()) ?? {};
  return test === "test" && type === undefined;
}

function readEvent(body: Uint8Array): Event {
  const event = parseObject(Buffer.from(body).toString());
  if (!event || typeof event.type !== "string") throw invalid("body", "The body must be one of Daily's events");
  const payload = (typeof event.payload === "object" && event.payload) || {};
  const { room, session_id, user_id, end_ts } = payload as Record<string, unknown>;
  const text = (value: unknown) => (typeof value === "string" && value.length <= TEXT_MAX ? value : "");
  return {
    type: event.type,
    room: text(room),
    sessionId: text(session_id),
    userId: text(user_id),
    endTs: typeof end_ts === "number" ? end_ts : 0,
  };
}
