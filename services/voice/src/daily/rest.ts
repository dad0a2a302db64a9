import { dailyRest } from "@parley/shared/carriers/daily";
import { CarrierRefusal } from "@parley/shared/carriers/errors";

export interface DailyRoom {
  url: string;
  /** The URI of the room's SIP endpoint, which takes calls while someone is in the room. */
  sipUri: string;
}

/** Daily's REST API for one domain (https://docs.daily.co/reference/rest-api). */
export interface DailyApi {
  /** Creates a private room, or finds the one that an earlier attempt without an answer created. */
  createRoom(room: { name: string; expiresAt: Date }): Promise<DailyRoom>;
  /** Makes a token with which one party enters one room. @param userId at most 36 characters */
  createToken(token: { roomName: string; userId: string; expiresAt: Date }): Promise<string>;
  /** The ids of the stays of a party in a room, which Daily knows with some seconds of delay; null if there is no such room. */
  present(roomName: string, userId: string): Promise<string[] | null>;
  /** Does nothing if there is no such room. */
  deleteRoom(roomName: string): Promise<void>;
  /** Makes Daily send the events of all rooms to a URL, signed with the secret, if it does not already. */
  subscribe(webhook: { url: string; secret: string; events: readonly string[] }): Promise<void>;
}

/** The agent's name, as the participants of a room see it. */
const DISPLAY_NAME = "Agent";

/** Every method throws CarrierUnavailable if Daily does not answer, and CarrierRefusal with Daily's words. */
export function dailyApi(settings: { baseUrl: string; apiKey: string }): DailyApi {
  const rest = dailyRest(settings);
  return {
    createRoom: async ({ name, expiresAt }) => {
      const properties = {
        exp: seconds(expiresAt),
        eject_at_room_exp: true,
        enable_knocking: false,
        start_video_off: true,
        sip: { display_name: DISPLAY_NAME, video: false, sip_mode: "dial-in", num_endpoints: 1 },
      };
      const json = { name, privacy: "private", properties };
      const made = await rest.send("POST", "/rooms", { json }).catch(async (error) => {
        // No other room has this name, because it contains our UUID.
        if (!(error instanceof CarrierRefusal && error.status === 400)) throw error;
        const found = await ifThere(rest.send("GET", `/rooms/${encodeURIComponent(name)}`));
        if (!found) throw error;
        return found;
      });
      const config = objectOf(made.config);
      const endpoint = objectOf(config.sip_uri).endpoint;
      if (typeof made.url !== "string") throw unusable("a room without an address");
      if (typeof endpoint !== "string" || endpoint === "")
        throw unusable("a room without SIP, which needs a Daily account with a credit card");
      return { url: made.url, sipUri: /^sips?:/i.test(endpoint) ? endpoint : `sip:${endpoint}` };
    },
    createToken: async ({ roomName, userId, expiresAt }) => {
      const exp = seconds(expiresAt);
      const properties = { room_name: roomName, user_id: userId, exp, eject_at_token_exp: true };
      const { token } = await rest.send("POST", "/meeting-tokens", { json: { properties } });
      if (typeof token !== "string" || token === "") throw unusable("no meeting token");
      return token;
    },
    present: async (roomName, userId) => {
      const query = { userId, limit: "10" };
      const answer = await ifThere(rest.send("GET", `/rooms/${encodeURIComponent(roomName)}/presence`, { query }));
      if (!answer) return null;
      const people = Array.isArray(answer.data) ? answer.data.map(objectOf) : [];
      return people.filter((each) => each.userId === userId).map(({ id }) => String(id));
    },
    deleteRoom: async (roomName) => {
      await ifThere(rest.send("DELETE", `/rooms/${encodeURIComponent(roomName)}`));
    },
    subscribe: async ({ url, secret, events }) => {
      const { items = [] } = await rest.send("GET", "/webhooks");
      const known = (Array.isArray(items) ? items.map(objectOf) : []).find((each) => each.url === url);
      const json = { url, hmac: secret, eventTypes: events };
      if (!known) return void (await rest.send("POST", "/webhooks", { json }));
      const isRight = known.state === "ACTIVE" && known.hmac === secret && hasAll(known.eventTypes, events);
      if (!isRight) await rest.send("POST", `/webhooks/${encodeURIComponent(String(known.uuid))}`, { json });
    },
  };
}

function seconds(time: Date): number {
  return Math.floor(time.getTime() / 1_000);
}

async function ifThere<T>(work: Promise<T>): Promise<T | null> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof CarrierRefusal && error.status === 404) return null;
    throw error;
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

function hasAll(given: unknown, wanted: readonly string[]): boolean {
  return Array.isArray(given) && wanted.every((each) => given.includes(each));
}

function unusable(what: string): CarrierRefusal {
  return new CarrierRefusal("unusable", `Daily answered with ${what}`);
}
