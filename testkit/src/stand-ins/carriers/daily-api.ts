import { dailySignature } from "@parley/shared/carriers/signatures";

/**
 * Daily's REST API and webhooks as far as Parley uses them, over domains in memory. Fields and errors as on
 * https://docs.daily.co/reference/rest-api.
 */
export interface DailyStandIn {
  fetch(request: Request): Promise<Response>;
  addDomain(domain: DailyDomain): void;
  /** By name, of all domains. */
  rooms: Map<string, StandInRoom>;
  /** Rooms that were deleted, by name. */
  deleted: string[];
  /** The webhooks of a domain. */
  webhooks(apiKey: string): StandInWebhook[];
  /** Lets someone enter. @throws Error if the token is not for this room, has expired, or the room is gone */
  join(roomName: string, token: string): DailyParticipant;
  /** The agent's call was connected, or ended. */
  connectSip(roomName: string): DailyParticipant;
  leave(roomName: string, id: string): void;
  /** Makes the next requests fail with these HTTP statuses; null leaves one unanswered after it was carried out. */
  failNext(...statuses: (number | null)[]): void;
  /** How webhooks are sent from now on. */
  sends: { lateMs: number; twice: boolean; not: boolean };
  /** The requests so far, such as `POST /rooms`. */
  asked: string[];
}

export interface DailyDomain {
  apiKey: string;
  /** The domain's name, such as `acme` of acme.daily.co. */
  domain: string;
}

export interface StandInRoom {
  name: string;
  apiKey: string;
  url: string;
  privacy: string;
  /** The properties that it was made with. */
  properties: Record<string, unknown>;
  /** The user of its SIP address. */
  sipUser: string;
  participants: DailyParticipant[];
  meetingId: string;
  meetingStartedAt: number;
}

export interface DailyParticipant {
  id: string;
  userId: string | null;
  userName: string;
  joinedAt: number;
}

export interface StandInWebhook {
  uuid: string;
  url: string;
  hmac: string;
  state: "ACTIVE" | "FAILED";
  eventTypes: string[];
}

export interface DailyHooks {
  /** host:port of the SIP addresses. */
  sipHost: string;
  /** Unix time in milliseconds; the machine's by default. */
  now?(): number;
  /** Called when someone has come or left. */
  changed?(room: StandInRoom): void;
  /** Called when a room was deleted. */
  deleted?(room: StandInRoom): void;
}

interface State extends DailyDomain {
  hooks: StandInWebhook[];
}

const DELIVERY_MS = 10_000;

export function dailyStandIn({ sipHost, changed, deleted, now = Date.now }: DailyHooks): DailyStandIn {
  const domains = new Map<string, State>();
  const tokens = new Map<string, { roomName: string; userId: string | null; exp: number }>();
  const rooms = new Map<string, StandInRoom>();
  const failures: (number | null)[] = [];
  const gone: string[] = [];
  const sends = { lateMs: 0, twice: false, not: false };
  const asked: string[] = [];
  let sipUsers = 0;

  const tell = (room: StandInRoom, type: string, payload: object) => {
    const event = { version: "1.0.0", type, id: crypto.randomUUID(), payload: { room: room.name, ...payload } };
    for (const webhook of domains.get(room.apiKey)?.hooks ?? []) {
      if (sends.not || webhook.state !== "ACTIVE" || !webhook.eventTypes.includes(type)) continue;
      const send = () => void deliver(webhook, { ...event, event_ts: now() / 1_000 }).catch(() => {});
      setTimeout(send, sends.lateMs);
      if (sends.twice) setTimeout(send, sends.lateMs + 50);
    }
  };

  const enter = (room: StandInRoom, userId: string | null, userName: string): DailyParticipant => {
    const participant = { id: crypto.randomUUID(), userId, userName, joinedAt: now() / 1_000 };
    const isFirst = room.participants.length === 0;
    room.participants.push(participant);
    if (isFirst) {
      room.meetingId = crypto.randomUUID();
      room.meetingStartedAt = participant.joinedAt;
      tell(room, "meeting.started", { meeting_id: room.meetingId, start_ts: participant.joinedAt });
    }
    tell(room, "participant.joined", told(participant));
    if (isFirst) tell(room, "dialin.ready", { sip_endpoint: `${room.sipUser}@${sipHost}` });
    changed?.(room);
    return participant;
  };

  const handle = async (state: State, request: Request): Promise<Response> => {
    const { pathname, searchParams: query } = new URL(request.url);
    const [collection = "", id = "", part = ""] = pathname.replace(/^\/v1/, "").split("/").filter(Boolean);
    asked.push(
      `${request.method} ${["", collection, id && ":id", part].filter((each, at) => at === 0 || each).join("/")}`,
    );
    const text = await request.text();
    const body = text === "" ? {} : (JSON.parse(text) as Record<string, unknown>);
    if (collection === "") return Response.json({ domain_name: state.domain, config: {} });
    if (collection === "meeting-tokens") return newToken(body);
    if (collection === "webhooks") return webhooks(state, request.method, id, body);
    if (collection !== "rooms") return refused(404, "not-found", `unknown path ${pathname}`);
    if (id === "") return request.method === "POST" ? newRoom(state, body) : refused(400, "invalid-request-error", "");
    const room = rooms.get(decodeURIComponent(id));
    if (!room || room.apiKey !== state.apiKey) return refused(404, "not-found", `room ${id} not found`);
    if (part === "presence") return presence(room, query.get("userId"), now());
    if (request.method !== "DELETE") return Response.json(shown(room));
    rooms.delete(room.name);
    gone.push(room.name);
    deleted?.(room);
    return Response.json({ deleted: true, name: room.name });
  };

  const newRoom = (state: State, { name, privacy, properties = {}, ...others }: Record<string, unknown>) => {
    const unknown = Object.keys(others)[0];
    if (unknown !== undefined) return refused(400, "invalid-request-error", `unknown parameter '${unknown}'`);
    if (typeof name !== "string" || !/^[\w-]{1,128}$/.test(name))
      return refused(400, "invalid-request-error", "room name is not valid");
    if (rooms.has(name)) return refused(400, "invalid-request-error", `a room named ${name} already exists`);
    const room: StandInRoom = {
      name,
      apiKey: state.apiKey,
      url: `https://${state.domain}.daily.co/${name}`,
      privacy: String(privacy),
      properties: properties as Record<string, unknown>,
      sipUser: String(++sipUsers).padStart(9, "1"),
      participants: [],
      meetingId: "",
      meetingStartedAt: 0,
    };
    rooms.set(name, room);
    return Response.json(shown(room));
  };

  const newToken = ({ properties = {} }: Record<string, unknown>) => {
    const { room_name, user_id = null, exp = 0 } = properties as Record<string, unknown>;
    if (typeof room_name !== "string") return refused(400, "invalid-request-error", "room_name is missing");
    if (user_id !== null && String(user_id).length > 36)
      return refused(400, "invalid-request-error", "user_id is longer than 36 characters");
    const token = `${Buffer.from(JSON.stringify({ r: room_name })).toString("base64url")}.${crypto.randomUUID()}`;
    tokens.set(token, { roomName: room_name, userId: user_id as string | null, exp: Number(exp) });
    return Response.json({ token });
  };

  const webhooks = async ({ hooks }: State, method: string, id: string, body: Record<string, unknown>) => {
    if (method === "GET") return Response.json(id === "" ? hooks : hooks.filter(({ uuid }) => uuid === id));
    const known = hooks.find(({ uuid }) => uuid === id);
    if (id !== "" && !known) return refused(404, "not-found", "no such webhook");
    const webhook: StandInWebhook = {
      uuid: known?.uuid ?? crypto.randomUUID(),
      url: String(body.url ?? known?.url),
      hmac: String(body.hmac ?? known?.hmac ?? ""),
      state: "ACTIVE",
      eventTypes: (body.eventTypes as string[] | undefined) ?? known?.eventTypes ?? [],
    };
    const answered = await deliver(webhook, { test: "test" }).catch(() => null);
    if (!answered?.ok)
      return refused(400, "invalid-request-error", "non-200 status code returned from webhook endpoint");
    if (known) Object.assign(known, webhook);
    else hooks.push(webhook);
    return Response.json(webhook);
  };

  const shown = (room: StandInRoom) => ({
    id: crypto.randomUUID(),
    name: room.name,
    api_created: true,
    privacy: room.privacy,
    url: room.url,
    created_at: new Date().toISOString(),
    config: {
      ...room.properties,
      ...(room.properties.sip ? { sip_uri: { endpoint: `${room.sipUser}@${sipHost}` } } : {}),
    },
  });

  return {
    rooms,
    deleted: gone,
    sends,
    asked,
    addDomain: (domain) =>
      void domains.set(domain.apiKey, { ...domain, hooks: domains.get(domain.apiKey)?.hooks ?? [] }),
    webhooks: (apiKey) => domains.get(apiKey)?.hooks ?? [],
    failNext: (...statuses) => void failures.push(...statuses),
    join: (roomName, token) => {
      const [room, known] = [rooms.get(roomName), tokens.get(token)];
      if (!room) throw new Error(`there is no room ${roomName}`);
      if (known?.roomName !== roomName || known.exp * 1_000 < now()) throw new Error("the token is not valid");
      return enter(room, known.userId, "Guest");
    },
    connectSip: (roomName) => {
      const room = rooms.get(roomName);
      if (!room) throw new Error(`there is no room ${roomName}`);
      const { display_name } = room.properties.sip as { display_name: string };
      return enter(room, null, display_name);
    },
    leave: (roomName, id) => {
      const room = rooms.get(roomName);
      const participant = room?.participants.find((each) => each.id === id);
      if (!room || !participant) return;
      room.participants = room.participants.filter((each) => each !== participant);
      tell(room, "participant.left", { ...told(participant), duration: now() / 1_000 - participant.joinedAt });
      if (room.participants.length === 0) {
        const times = { start_ts: room.meetingStartedAt, end_ts: now() / 1_000 };
        tell(room, "meeting.ended", { meeting_id: room.meetingId, ...times });
      }
      changed?.(room);
    },
    fetch: async (request) => {
      const apiKey = /^Bearer (.+)$/.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
      const state = domains.get(apiKey);
      if (!state) return refused(401, "authentication-error", "the API key is not valid");
      const failure = failures.shift();
      if (typeof failure === "number") return refused(failure, "server-error", "as the test wants");
      const response = await handle(state, request);
      if (failure === null) return new Promise(() => {});
      return response;
    },
  };
}

/** A webhook as Daily sends it. */
export async function deliver({ url, hmac }: Pick<StandInWebhook, "url" | "hmac">, event: object): Promise<Response> {
  const body = JSON.stringify(event);
  const timestamp = String(Date.now());
  return fetch(url, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      "X-Webhook-Timestamp": timestamp,
      "X-Webhook-Signature": dailySignature(hmac, timestamp, body),
    },
    body,
    signal: AbortSignal.timeout(DELIVERY_MS),
  });
}

function told({ id, userId, userName, joinedAt }: DailyParticipant) {
  return { session_id: id, user_id: userId, user_name: userName, owner: false, joined_at: joinedAt };
}

function presence({ name, participants, meetingId }: StandInRoom, userId: string | null, now: number): Response {
  const data = participants
    .filter((each) => userId === null || each.userId === userId)
    .map((each) => ({
      room: name,
      id: each.id,
      userId: each.userId,
      userName: each.userName,
      mtgSessionId: meetingId,
      joinTime: new Date(each.joinedAt * 1_000).toISOString(),
      duration: Math.round(now / 1_000 - each.joinedAt),
    }));
  return Response.json({ total_count: data.length, data });
}

function refused(status: number, error: string, info: string): Response {
  return Response.json({ error, info }, { status });
}
