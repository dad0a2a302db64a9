import { dailyStandIn } from "@parley/testkit/stand-ins/carriers/daily-api";
import { controlled } from "../serve.ts";
import { spokenOnPhone } from "../speech/spoken.ts";
import { type Behavior, type Person, person } from "./person.ts";
import { type FocusCall, startSipFocus } from "./sip-focus.ts";

interface DailyOptions {
  /** The port of the REST API over TCP and of SIP over UDP; 0 takes any free one. */
  port: number;
  /** An OpenAI audio API, for what people say. */
  speechUrl: string;
}

/** The API key of the domain that exists at the start. */
export const STAND_IN_API_KEY = "stand-in-api-key";
/** Anyone who reaches it may enter as any person. */
const LOOPBACK = "127.0.0.1";
const DOMAIN = "parley-stand-in";
const BODY_BYTES_MAX = 64 * 1024;
const TALKS_MAX = 10_000;

/** What happens in a room: who talks there, and the agent's call. */
interface Talk {
  people: Map<string, Person>;
  call: FocusCall | null;
  agentId: string;
  /** Lines that were said by people who have left. */
  saidLines: number;
  heardFrames: number;
}

/**
 * Serves Daily's REST API, the SIP end of its rooms, and webhooks. `/control` plays the people in rooms
 * (docs/daily.md#try-it-without-daily).
 * @throws when the port is taken
 */
export async function startDaily({ port, speechUrl }: DailyOptions) {
  const talks = new Map<string, Talk>();
  const server = Bun.serve({
    port,
    hostname: LOOPBACK,
    idleTimeout: 60,
    maxRequestBodySize: BODY_BYTES_MAX,
    fetch: answer,
  });
  const api = dailyStandIn({ sipHost: `${LOOPBACK}:${server.port}`, deleted: ({ name }) => close(name) });
  api.addDomain({ apiKey: STAND_IN_API_KEY, domain: DOMAIN });
  const focus = await startSipFocus(LOOPBACK, server.port ?? 0, { called });

  /** A room takes one call, while someone is in it. */
  function called(user: string) {
    const room = [...api.rooms.values()].find(({ sipUser }) => sipUser === user);
    const talk = room && talks.get(room.name);
    if (!room || !talk || talk.call || room.participants.length === 0) return null;
    return {
      heard: (frame: Int16Array) => {
        for (const each of talk.people.values()) each.heard(frame);
      },
      connected: (call: FocusCall) => {
        talk.call = call;
        talk.agentId = api.connectSip(room.name).id;
        for (const each of talk.people.values()) each.connect(call.audio);
      },
      ended: () => {
        talk.call = null;
        api.leave(room.name, talk.agentId);
      },
    };
  }

  function close(name: string): void {
    const talk = talks.get(name);
    talk?.call?.hangUp();
    for (const id of talk?.people.keys() ?? []) forget(name, id);
  }

  function forget(name: string, id: string): void {
    const talk = talks.get(name);
    const left = talk?.people.get(id);
    if (!talk || !left) return;
    left.stop();
    talk.people.delete(id);
    talk.saidLines += left.saidLines();
    talk.heardFrames += left.heardFrames();
  }

  function join(name: string, body: Record<string, unknown>): object {
    const { id } = api.join(name, String(body.token ?? ""));
    const talk = talks.get(name) ?? { people: new Map(), call: null, agentId: "", saidLines: 0, heardFrames: 0 };
    talks.set(name, talk);
    for (const known of talks.keys()) {
      if (talks.size <= TALKS_MAX) break;
      if (!api.rooms.has(known)) talks.delete(known);
    }
    const leave = () => {
      forget(name, id);
      api.leave(name, id);
    };
    const guest = person(behaviorOf(body), (line) => spokenOnPhone(speechUrl, line), leave);
    talk.people.set(id, guest);
    if (talk.call) guest.connect(talk.call.audio);
    return { participant_id: id };
  }

  function shown(name: string): object {
    const [room, talk] = [api.rooms.get(name), talks.get(name)];
    if (!room && !talk) throw new Error(`there is no room ${name}`);
    const people = [...(talk?.people.values() ?? [])];
    return {
      room_name: name,
      is_deleted: !room,
      participants:
        room?.participants.map(({ id, userId, userName }) => ({ id, user_id: userId, user_name: userName })) ?? [],
      is_agent_here: talk?.call !== null && talk !== undefined,
      said_lines: people.reduce((sum, each) => sum + each.saidLines(), talk?.saidLines ?? 0),
      heard_ms: people.reduce((sum, each) => sum + each.heardFrames(), talk?.heardFrames ?? 0) * 20,
    };
  }

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === "/healthz") return Response.json({ status: "ok" });
    const [control, what = "", name = "", action = ""] = pathname.split("/").filter(Boolean);
    if (control !== "control") return api.fetch(request);
    return controlled(request, async (body) => {
      if (what === "domains") api.addDomain({ apiKey: String(body.api_key), domain: String(body.domain) });
      else if (what === "webhooks") Object.assign(api.sends, webhooksOf(body));
      else if (what === "failures") api.failNext(...failuresOf(body));
      else if (what === "rooms" && action === "join") return join(name, body);
      else if (what === "rooms" && action === "leave") {
        forget(name, String(body.participant_id));
        api.leave(name, String(body.participant_id));
      } else if (what === "rooms" && action === "") return shown(name);
      else throw new Error(`there is no ${pathname}`);
      return {};
    });
  }

  return {
    url: `${server.url.origin}/v1`,
    api,
    stop: async () => {
      focus.stop();
      await server.stop(true);
    },
  };
}

/** @throws Error naming the field that is wrong */
function behaviorOf({ say = ["Hello. When do you open?"], leave_after_ms = null }: Record<string, unknown>): Behavior {
  if (!Array.isArray(say) || !say.every((line) => typeof line === "string")) throw new Error("say is not valid");
  const isTime = leave_after_ms === null || (typeof leave_after_ms === "number" && leave_after_ms >= 0);
  if (!isTime) throw new Error("leave_after_ms is not valid");
  return { say, leaveAfterMs: leave_after_ms as number | null };
}

function webhooksOf({ late_ms = 0, twice = false, not = false }: Record<string, unknown>) {
  return { lateMs: Number(late_ms), twice: Boolean(twice), not: Boolean(not) };
}

function failuresOf({ statuses = [] }: Record<string, unknown>): (number | null)[] {
  if (!Array.isArray(statuses)) throw new Error("statuses is not valid");
  return statuses.map((status) => (status === null ? null : Number(status)));
}
