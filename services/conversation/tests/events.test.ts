import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { openDatabase } from "@parley/shared/db/database";
import { idOf, newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { tellWorkers } from "@parley/testkit/jobs";
import { newOwner } from "@parley/testkit/owners";
import { closeSilentChats } from "../src/store/conversations.ts";
import { deleteConversations } from "../src/store/expired.ts";
import { turnStore } from "../src/store/turns/turns-together.ts";
import { endChats, openChats } from "./alone-kit.ts";
import { allSent, allSentLater, endedChat, eventOf, eventsOf, pass, payloadOf, want } from "./events-kit.ts";
import { createAgent, failure, say, session, startTestChat } from "./kit.ts";

const service = await startTestChat();
const db = openDatabase({ url: service.env.DATABASE_URL ?? "", name: "test" });
const agent = await createAgent(service, { tools: { end_call: true } });

afterAll(async () => {
  await db.end();
  await service.stop();
});

afterEach(async () => {
  service.dispatcher.accept = () => {};
  await allSentLater(service);
});

/** Chats without a call to a model. */
function chats(count: number, ownerId = agent.ownerId): Promise<string[]> {
  return openChats(service.sql, ownerId, count, { at: service.clock.now() });
}

/** Holds the owner's job in the run that sends this conversation's event. */
function heldRun(conversationId: string): { running: Promise<void>; goOn(): void } {
  const [begun, goingOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  service.dispatcher.accept = (event) => {
    if (event.conversationId !== conversationId) return undefined;
    begun.resolve();
    return goingOn.promise;
  };
  return { running: begun.promise, goOn: goingOn.resolve };
}

function pending(conversationId: string) {
  return service.sql<{ event: string; attempts: number }[]>`
    select event, attempts from owner_events where conversation_id = ${conversationId}`;
}

describe("the event of a conversation that ended", () => {
  test("reaches the dispatcher once, with the documented payload", async () => {
    const timestamp = service.clock.now().toISOString();
    const sessionId = await endedChat(service, agent, "Goodbye");
    const event = await eventOf(service, sessionId);
    const { conversation } = await service.chat.getConversation({ ownerId: agent.ownerId, conversationId: sessionId });
    expect(event).toMatchObject({ ownerId: agent.ownerId, conversationId: sessionId, event: "conversation.completed" });
    expect(event.eventId).toMatch(/^evt_[0-9a-z]{26}$/);
    expect(payloadOf(event)).toEqual({
      event: "conversation.completed",
      id: conversation?.id,
      conversation_id: sessionId,
      agent_id: agent.agentId,
      agent_version: 1,
      last_agent_id: agent.agentId,
      conversation_type: "CHAT",
      conversation_status: "COMPLETED",
      notes: null,
      is_test_call: false,
      conversation_transcript: ["user: Goodbye", "assistant: Bye."].map((line) => ({
        role: line.split(": ")[0],
        content: line.split(": ")[1],
        timestamp,
        ...(line.startsWith("assistant") && { tool_calls: [expect.objectContaining({ name: "end_call" })] }),
      })),
      conversation_analysis: [],
    });
    await allSent(service.sql);
    expect(eventsOf(service.dispatcher, sessionId)).toHaveLength(1);
  });

  test("is stored in the transaction that ends it, whatever ends it", async () => {
    const { ownerId } = agent;
    const ids = await chats(3);
    const refused = Symbol();
    service.dispatcher.accept = () => {
      throw new Error("not now");
    };
    const ending = service.sql.begin(async (tx) => {
      await tx`update conversations set status = 'FAILED' where owner_id = ${ownerId} and conversation_id = any(${ids})`;
      expect(await tx`select 1 from owner_events where conversation_id = any(${ids})`).toHaveLength(3);
      throw refused;
    });
    expect(await ending.catch((error) => error)).toBe(refused);
    expect(await service.sql`select 1 from owner_events where conversation_id = any(${ids})`).toHaveLength(0);
    await service.sql`update conversations set status = 'FAILED' where owner_id = ${ownerId} and conversation_id = any(${ids})`;
    for (const id of ids) expect(await pending(id)).toMatchObject([{ event: "conversation.failed" }]);
  });

  test("is stored for a conversation that starts as ended", async () => {
    const id = newUuid();
    await service.sql`
      insert into conversations (owner_id, conversation_id, id, agent_id, type, status, last_activity_at, created_at, updated_at)
      values (${agent.ownerId}, ${id}, 'cnv_1', 'agt_1', 'TELEPHONY', 'DISCONNECTED', now(), now(), '2026-01-01')`;
    await tellWorkers(service.sql);
    expect(await eventOf(service, id)).toMatchObject({ event: "conversation.disconnected" });
  });

  test("is sent once, for the end that counts, when several ends race", async () => {
    const ends = await Promise.all(
      Array.from({ length: 15 }, async () => {
        const { sessionId } = await say(service, agent, "Hi");
        const turn = { ownerId: agent.ownerId, conversationId: sessionId, turnId: newUuid() };
        const { now } = service.clock;
        await service.sql`update conversations set turn_id = ${turn.turnId} where conversation_id = ${sessionId}`;
        const reply = {
          content: "Bye.",
          partial: false,
          partialReason: null,
          provider: "p",
          model: "m",
          promptName: null,
          promptVersion: null,
          toolCalls: [],
        };
        const measured = {
          usage: { inputTokens: 1, outputTokens: 1 },
          knowledge: null,
          costUsdMicros: null,
          firstWordMs: 1,
          totalMs: 1,
        };
        const hangup = (status: string) => service.sql`
          update conversations set status = ${status}, updated_at = ${now()}
          where owner_id = ${agent.ownerId} and conversation_id = ${sessionId} and status = 'IN_PROGRESS'`;
        await Promise.all([
          turnStore(db).finishTurn({ ...turn, replySeq: 3 }, { ...reply, ...measured }, now(), {
            checkpointed: false,
            language: null,
            ended: "COMPLETED",
            key: null,
            done: true,
          }),
          closeSilentChats(db, new Date(now().getTime() + 1), now(), 200),
          hangup("FAILED"),
          hangup("DISCONNECTED"),
        ]);
        return sessionId;
      }),
    );
    await allSent(service.sql);
    for (const sessionId of ends) {
      const [row] = await service.sql`select status from conversations where conversation_id = ${sessionId}`;
      const events = eventsOf(service.dispatcher, sessionId);
      expect(events.map(({ event }) => event)).toEqual([`conversation.${row?.status.toLowerCase()}`]);
    }
  });

  test("is sent though its transaction began while the owner's other events were sent, and ends after that", async () => {
    const [first = "", late = ""] = await chats(2);
    const { running, goOn } = heldRun(first);
    await endChats(service.sql, [first], service.clock.now());
    await running;
    await service.sql.begin(async (tx) => {
      await endChats(tx, [late], service.clock.now());
      goOn();
      await eventually(async () => {
        expect(await tx`select from owner_events where conversation_id = ${first}`).toHaveLength(0);
      });
    });
    await eventually(() => expect(eventsOf(service.dispatcher, late)).toHaveLength(1));
  });

  test("is stored by statements that end conversations of the same owners at the same time, without a deadlock", async () => {
    const owners = Array.from({ length: 100 }, newOwner);
    const [one, other] = [
      (await Promise.all(owners.map((ownerId) => chats(1, ownerId)))).flat(),
      (await Promise.all(owners.map((ownerId) => chats(1, ownerId)))).flat().reverse(),
    ];
    // Each statement changes the conversations in the order of the array.
    const end = (ids: readonly string[]) => db`
      update conversations set status = 'COMPLETED', updated_at = ${service.clock.now()}
      from unnest(${ids as string[]}::uuid[]) as ended (ended_id) where conversation_id = ended_id`;
    await Promise.all([end(one), end(other)]);
    await tellWorkers(service.sql);
    await allSent(service.sql);
    for (const id of [...one, ...other]) expect(eventsOf(service.dispatcher, id)).toHaveLength(1);
  });

  test("is not sent once it was read long ago, because its conversation may have been deleted since", async () => {
    const sessions = await chats(30);
    const [begun, goingOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    service.dispatcher.accept = () => {
      begun.resolve();
      return goingOn.promise;
    };
    await endChats(service.sql, sessions, service.clock.now());
    await begun.promise;
    const unsent = sessions.filter((id) => eventsOf(service.dispatcher, id).length === 0);
    expect(unsent).toHaveLength(5);
    service.clock.advance(30_000);
    await deleteConversations(db, agent.ownerId, unsent);
    goingOn.resolve();
    await allSent(service.sql);
    for (const id of unsent) expect(eventsOf(service.dispatcher, id)).toEqual([]);
  });

  test("is never followed by another, because an ended conversation does not change", async () => {
    const sessionId = await endedChat(service, agent);
    for (const status of ["FAILED", "IN_PROGRESS"]) {
      const again = service.sql`update conversations set status = ${status} where conversation_id = ${sessionId}`;
      expect(await again.catch((error) => error.message)).toBe(`conversation ${sessionId} is COMPLETED for good`);
    }
    expect(await session(service, agent, sessionId)).toMatchObject({ messageCount: 2 });
  });
});

describe("a dispatcher", () => {
  test("that is down gets every event once it is back, and is called after 1 s, growing to 30 s, whatever ends until then", async () => {
    const { clock, dispatcher, sql } = service;
    await dispatcher.stop();
    const ids = await chats(200);
    await endChats(sql, ids, clock.now());
    for (const seconds of [1, 2, 4, 8, 16, 30, 30]) {
      ids.push(...(await chats(1)), ...(await chats(1, newOwner())));
      await endChats(sql, ids.slice(-2), clock.now());
      await eventually(async () => {
        const waits = await sql<{ seconds: number | null }[]>`
          select distinct case when leased_until is null then extract(epoch from due_at - ${clock.now()})::float end as seconds
          from jobs where queue = 'relay-events'`;
        expect([...waits]).toEqual([{ seconds }]);
      });
      await pass(service, seconds * 1_000);
    }
    await dispatcher.start();
    await allSentLater(service);
    for (const id of ids) expect(eventsOf(dispatcher, id)).toHaveLength(1);
  });

  test("that refuses an event gets it again, byte for byte, without delaying others", async () => {
    const [refused = "", ...others] = await chats(5);
    let isRefusing = true;
    service.dispatcher.accept = ({ conversationId }) => {
      if (isRefusing && conversationId === refused) throw new Error("no");
    };
    await endChats(service.sql, [refused, ...others], service.clock.now());
    for (const id of others) await eventOf(service, id);
    await eventually(async () => expect((await pending(refused))[0]?.attempts).toBe(1));
    await service.sql`update conversations set notes = 'later' where conversation_id = ${refused}`;
    await eventually(async () => {
      await pass(service, 30_000);
      expect((await pending(refused))[0]?.attempts).toBeGreaterThan(1);
    });
    isRefusing = false;
    await allSentLater(service);
    const [first, ...repeated] = eventsOf(service.dispatcher, refused);
    expect(repeated.length).toBeGreaterThan(1);
    for (const again of repeated) expect(again).toEqual(first as typeof again);
    for (const id of others) expect(eventsOf(service.dispatcher, id)).toHaveLength(1);
  });
});

describe("an event that cannot be prepared", () => {
  /** Lets Postgres refuse to store the payload of a conversation's event. */
  async function refuseToStore(conversationId: string): Promise<() => Promise<void>> {
    const { sql } = service;
    await sql.unsafe(`
      alter table owner_events add constraint unstorable
      check (payload is null or conversation_id <> '${conversationId}')`);
    return async () => {
      await sql`alter table owner_events drop constraint unstorable`;
    };
  }

  test("is retried alone, and delays no other owner's", async () => {
    const [[poison = ""], others] = [
      await chats(1),
      await Promise.all(Array.from({ length: 9 }, () => chats(1, newOwner()))),
    ];
    const allow = await refuseToStore(poison);
    const ids = others.flat();
    await endChats(service.sql, [poison, ...ids], service.clock.now());
    await eventually(async () => expect((await pending(poison))[0]?.attempts).toBe(1));
    await eventually(() => {
      for (const id of ids) expect(eventsOf(service.dispatcher, id)).toHaveLength(1);
    });
    const [next = ""] = await chats(1, newOwner());
    await endChats(service.sql, [next], service.clock.now());
    await eventually(() => expect(eventsOf(service.dispatcher, next)).toHaveLength(1));
    await allow();
    await allSentLater(service);
    expect(eventsOf(service.dispatcher, poison)).toHaveLength(1);
  });
});

describe("an event that every dispatcher refuses", () => {
  const givenUp = (id: string) => service.sql`
    select 1 from owner_events where conversation_id = ${id} and due_at = 'infinity'`;
  const forget = (id: string) => service.sql`delete from owner_events where conversation_id = ${id}`;

  test("is given up after a day", async () => {
    const [refused = ""] = await chats(1);
    service.dispatcher.accept = ({ conversationId }) => {
      if (conversationId === refused) throw new Error("no");
    };
    await endChats(service.sql, [refused], service.clock.now());
    await eventOf(service, refused);
    await pass(service, 23 * 60 * 60_000);
    await eventually(async () => {
      await pass(service, 1_000);
      expect((await pending(refused))[0]?.attempts).toBeGreaterThan(1);
    });
    expect(await givenUp(refused)).toHaveLength(0);
    await eventually(async () => {
      await pass(service, 60 * 60_000);
      expect(await givenUp(refused)).toHaveLength(1);
    });
    const [other = ""] = await chats(1);
    await endChats(service.sql, [other], service.clock.now());
    await eventOf(service, other);
    expect(await givenUp(refused)).toHaveLength(1);
    await forget(refused);
  });
});

describe("an event beyond the ends of conversations", () => {
  test("is stored for owners who want it, and sent before the later ones of its conversation", async () => {
    const [wanting, other] = [newOwner(), newOwner()];
    await want(service, wanting, "conversation.started");
    const [told = ""] = await chats(1, wanting);
    const [untold = ""] = await chats(1, other);
    expect(await pending(untold)).toHaveLength(0);
    await endChats(service.sql, [told, untold], service.clock.now());
    await allSent(service.sql);
    const names = (id: string) => eventsOf(service.dispatcher, id).map(({ event }) => event);
    expect([names(told), names(untold)]).toEqual([
      ["conversation.started", "conversation.completed"],
      ["conversation.completed"],
    ]);
    const [started] = eventsOf(service.dispatcher, told);
    expect(payloadOf(started)).toMatchObject({
      event: "conversation.started",
      id: started?.eventId,
      created_at: service.clock.now().toISOString(),
      conversation_id: told,
      conversation: { conversation_id: told, conversation_type: "CHAT", conversation_analysis: null },
    });
    expect(payloadOf(started).conversation).not.toHaveProperty("conversation_transcript");
  });

  test("is told at once of a chat that begins with its greeting or with a message", async () => {
    const polite = await createAgent(service);
    await want(service, polite.ownerId, "conversation.started");
    const { sessionId: greeted } = await service.chat.startChat({ ...polite, metadata: undefined });
    const { sessionId: written } = await say(service, polite, "Hi");
    for (const id of [greeted, written])
      expect(await eventOf(service, id)).toMatchObject({ event: "conversation.started" });
  });

  test("waits behind an earlier one that the dispatcher refuses", async () => {
    const ownerId = newOwner();
    await want(service, ownerId, "conversation.started");
    let refusals = 2;
    service.dispatcher.accept = ({ event }) => {
      if (event === "conversation.started" && refusals-- > 0) throw new Error("not now");
    };
    const [id = ""] = await chats(1, ownerId);
    await endChats(service.sql, [id], service.clock.now());
    await allSentLater(service);
    const names = eventsOf(service.dispatcher, id).map(({ event }) => event);
    expect(names).toEqual([...new Array(3).fill("conversation.started"), "conversation.completed"]);
  });

  test("that another service records is sent once, and never of a conversation that is gone", async () => {
    const ownerId = newOwner();
    await want(service, ownerId, "recording.ready");
    const [id = ""] = await chats(1, ownerId);
    const happenedAt = service.clock.now();
    const record = (conversationId: string, eventUuid = newUuid()) => {
      const object = JSON.stringify({ status: "ready", bytes: 5 });
      return service.chat.recordEvent({
        ownerId,
        eventUuid,
        event: "recording.ready",
        conversationId,
        happenedAt,
        object,
      });
    };
    const eventUuid = newUuid();
    service.dispatcher.accept = () => {
      throw new Error("not now");
    };
    await Promise.all([record(id, eventUuid), record(id, eventUuid)]);
    await record(newUuid());
    expect(await service.sql`select from owner_events where owner_id = ${ownerId}`).toHaveLength(1);
    service.dispatcher.accept = () => {};
    await allSentLater(service);
    expect(payloadOf(eventsOf(service.dispatcher, id).at(-1))).toEqual({
      event: "recording.ready",
      id: idOf("evt", eventUuid),
      created_at: happenedAt.toISOString(),
      conversation_id: id,
      recording: { status: "ready", bytes: 5 },
    });
    const started = record(id).then(() =>
      service.chat.recordEvent({
        ownerId,
        eventUuid,
        event: "conversation.started",
        conversationId: id,
        happenedAt,
        object: "{}",
      }),
    );
    expect(await failure(started)).toMatchObject({ kind: "invalid" });
  });

  test("is wanted as the newest revision says, in whatever order they arrive", async () => {
    const ownerId = newOwner();
    await service.chat.setWantedEvents({ ownerId, events: ["conversation.started"], revision: 2 });
    await service.chat.setWantedEvents({ ownerId, events: [], revision: 1 });
    const [id = ""] = await chats(1, ownerId);
    expect(await pending(id)).toMatchObject([{ event: "conversation.started" }]);
  });
});

test("a conversation deleted before its event was sent takes the event with it", async () => {
  service.dispatcher.accept = () => {
    throw new Error("not now");
  };
  const [id = ""] = await chats(1, newOwner());
  await service.sql.begin(async (tx) => {
    await tx`update conversations set status = 'COMPLETED' where conversation_id = ${id}`;
    await tx`delete from conversations where conversation_id = ${id}`;
  });
  await allSentLater(service);
  expect(eventsOf(service.dispatcher, id)).toEqual([]);
});
