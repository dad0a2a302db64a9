import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";
import { type Database, openDatabase } from "@parley/shared/db/database";
import { notFound, ServiceError } from "@parley/shared/errors";
import { newUuid } from "@parley/shared/ids";
import { deleteOldRows } from "@parley/shared/jobs/old-rows";
import { silentLogger } from "@parley/shared/log";
import { createSealer } from "@parley/shared/sealing";
import { fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, TEST_SECRET, type TestDatabase } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import type { StartCall } from "../src/call/port.ts";
import { type CallSignals, listenForSignals } from "../src/call/signals.ts";
import { connectWebCall } from "../src/rpc/connect-web-call.ts";
import { createWebCall } from "../src/rpc/create-web-call.ts";
import { endWebCall } from "../src/rpc/end-web-call.ts";
import { EXPIRED_WEB_CALLS, UNUSED_WEB_CALLS, type WebCallRow } from "../src/store/web-calls.ts";
import type { Leg } from "../src/transport/leg.ts";
import { browserCalls } from "../src/web-calls/browser-calls.ts";
import type { WebCallContext } from "../src/web-calls/context.ts";
import { listening } from "./listening.ts";
import { browser } from "./webrtc/browser.ts";

let database: TestDatabase;
let db: Database;
let signals: CallSignals;
const clock = fakeClock();
const hungUp: string[] = [];
let connected: { call: WebCallRow; offer: string }[] = [];
/** The error that refuses the next call. */
let refusal: ServiceError | null = null;
/** Agents that were deleted. */
const gone = new Set<string>();
let ctx: WebCallContext;

beforeAll(async () => {
  database = await createTestDatabase();
  db = openDatabase({ url: database.urls.voice, name: "test" });
  signals = listenForSignals({ db, direct: db, log: silentLogger }, ({ ownerId, conversationId }, signal) =>
    hungUp.push(`${ownerId} ${conversationId} ${signal}`),
  );
  ctx = {
    db,
    clock,
    signals,
    iceServersFor: ({ conversationId, until }) => [
      { urls: ["turn:turn.example.com"], username: conversationId, credential: until.toISOString() },
    ],
    sealer: createSealer(TEST_SECRET),
    checkAgent: async ({ agentId }) => {
      if (gone.has(agentId)) throw notFound("Agent");
      if (agentId === "agt_foreign") throw new ServiceError("forbidden", "You do not have access to this agent");
      if (agentId === "agt_keyless") throw new ServiceError("condition", "the operator has to set OPENAI_API_KEY");
      return { startWebhookMs: 0, agentVersion: 4 };
    },
    browsers: {
      connect: async (call, offer) => {
        if (refusal) throw refusal;
        connected.push({ call, offer });
        return "the answer";
      },
    },
  };
});
afterAll(async () => {
  await signals.stop();
  await db.end();
  await database.drop();
});
beforeEach(() => {
  connected = [];
  refusal = null;
});

test("a token connects its call once, with what the call was created with", async () => {
  const ownerId = newOwner();
  const { conversationId, token, iceServers } = await create(ownerId, { dynamicVariables: { name: "Ada" } });
  // The time to connect, and the longest call.
  const until = new Date(clock.now().getTime() + 5 * 60_000 + 4 * 60 * 60_000).toISOString();
  expect(iceServers).toEqual([{ urls: ["turn:turn.example.com"], username: conversationId, credential: until }]);
  expect(await connect({ conversationId, token })).toEqual({ answer: "the answer" });
  expect(connected).toEqual([
    {
      call: {
        ownerId,
        conversationId,
        agentId: "agt_1",
        dynamicVariables: { name: "Ada" },
        metadata: {},
        draftId: null,
        agentVersion: null,
      },
      offer: "the offer",
    },
  ]);
  expect(await serviceErrorOf(connect({ conversationId, token }))).toMatchObject({ kind: "unauthenticated" });
});

test("when two browsers use one token at once, one is connected", async () => {
  const call = await create(newOwner());
  const tried = await Promise.allSettled([connect(call), connect(call)]);
  expect(tried.map(({ status }) => status).toSorted()).toEqual(["fulfilled", "rejected"]);
});

test("a token is valid for five minutes and for no other call", async () => {
  const mine = await create(newOwner());
  const other = await create(newOwner());
  const wrong = [
    { ...mine, conversationId: other.conversationId },
    { ...mine, token: `${mine.token}x` },
    { ...mine, token: "" },
    { ...mine, conversationId: "none" },
    { ...mine, conversationId: newUuid() },
  ];
  for (const each of wrong) expect(await serviceErrorOf(connect(each))).toMatchObject({ kind: "unauthenticated" });
  clock.advance(5 * 60_000);
  expect(await serviceErrorOf(connect(mine))).toMatchObject({ kind: "unauthenticated" });
  expect(connected).toEqual([]);
});

test("a call that is refused may be tried again", async () => {
  const call = await create(newOwner());
  refusal = new ServiceError("unavailable", "away");
  expect(await serviceErrorOf(connect(call))).toMatchObject({ kind: "unavailable" });
  refusal = null;
  expect(await connect(call)).toEqual({ answer: "the answer" });
});

test("an offer that can never connect is refused with a sentence, and the call's next offer connects", async () => {
  const { begun, connecting } = realWebCalls();
  const call = await create(newOwner());
  const page = await browser();
  const withOffer = (offer: string) => connecting({ ...call, offer }, CALL) as Promise<{ answer: string }>;
  for (const offer of [
    page.offer.replace(/^a=fingerprint:.*\r\n/m, ""),
    page.offer.replace(/^a=fingerprint:.*$/m, `a=fingerprint:md5 ${Array.from({ length: 16 }, () => "AB").join(":")}`),
    page.offer.replaceAll(/^a=ice-(?:ufrag|pwd):.*\r\n/gm, ""),
  ])
    expect(await serviceErrorOf(withOffer(offer))).toMatchObject({
      kind: "invalid",
      detail: expect.stringMatching(/^The SDP offer cannot be answered: it has no .+/),
    });
  expect(begun).toEqual([]);
  page.accept((await withOffer(page.offer)).answer);
  const [leg] = await Promise.all(begun);
  await leg?.hangUp();
  page.close();
});

test("an offer that finds no free port begins nothing, and the call's next offer connects", async () => {
  const { begun, connecting } = realWebCalls({ first: 27_100, last: 27_100 });
  const [other, call] = [await create(newOwner()), await create(newOwner())];
  const [first, page] = [await browser(), await browser()];
  first.accept(((await connecting({ ...other, offer: first.offer }, CALL)) as { answer: string }).answer);
  const withOffer = () => connecting({ ...call, offer: page.offer }, CALL) as Promise<{ answer: string }>;
  expect(await serviceErrorOf(withOffer())).toMatchObject({
    kind: "unavailable",
    detail: expect.stringMatching(/^No RTP port is free/),
  });
  expect(begun).toHaveLength(1);
  await (await begun[0])?.hangUp();
  const { answer } = await eventually(withOffer);
  page.accept(answer);
  await (await begun[1])?.hangUp();
  for (const each of [first, page]) each.close();
});

test("a call of a foreign agent, or of one that could not be held, is not created", async () => {
  expect(await serviceErrorOf(create(newOwner(), { agentId: "agt_foreign" }))).toMatchObject({ kind: "forbidden" });
  expect(await serviceErrorOf(create(newOwner(), { agentId: "agt_keyless" }))).toMatchObject({ kind: "condition" });
});

test("a repeated request with its idempotency key creates one call", async () => {
  const ownerId = newOwner();
  const idempotency = { key: "k", fingerprint: new Uint8Array(32) };
  const first = await create(ownerId, { idempotency });
  expect(await create(ownerId, { idempotency })).toEqual(first);
});

test("a repeated request gets the first one's response or refusal, though its agent was deleted or made since", async () => {
  const ownerId = newOwner();
  const of = (agentId: string) => ({ agentId, idempotency: { key: agentId, fingerprint: new Uint8Array(32) } });
  gone.add("agt_later");
  const first = await create(ownerId, of("agt_deleted"));
  expect(await serviceErrorOf(create(ownerId, of("agt_later")))).toMatchObject({ kind: "not_found" });
  gone.delete("agt_later");
  gone.add("agt_deleted");
  expect(await create(ownerId, of("agt_deleted"))).toEqual(first);
  expect(await serviceErrorOf(create(ownerId, of("agt_later")))).toMatchObject({ kind: "not_found" });
});

test("hanging up reaches the process that holds the call, with the call's token only", async () => {
  const ownerId = newOwner();
  const { conversationId, token } = await create(ownerId);
  const other = await create(newOwner());
  expect(await serviceErrorOf(end({ conversationId, token: other.token }))).toMatchObject({ kind: "unauthenticated" });
  await eventually(async () => {
    await end({ conversationId, token });
    expect(hungUp).toContain(`${ownerId} ${conversationId} hang_up`);
  });
  expect(new Set(hungUp)).toEqual(new Set([`${ownerId} ${conversationId} hang_up`]));
});

test("expired calls are deleted in batches, and others stay", async () => {
  clock.advance(1);
  const expired = await create(newOwner());
  const before = new Date(clock.now().getTime() + 5 * 60_000);
  clock.advance(1);
  const later = await create(newOwner());
  const rows = { ...EXPIRED_WEB_CALLS, keptMs: 0 };
  await deleteOldRows(db, { ...rows, rows: 10_000 }, before);
  expect(await deleteOldRows(db, { ...rows, rows: 1 }, new Date(before.getTime() + 1))).toBe(1);
  expect(await serviceErrorOf(connect(expired))).toMatchObject({ kind: "unauthenticated" });
  expect(await connect(later)).toEqual({ answer: "the answer" });
});

test("what an owner's waiting web calls were created with has at most 128 MiB, and another owner has room", async () => {
  const ownerId = newOwner();
  const { conversationId } = await create(ownerId);
  // As 2,000 requests would, each with 64 KiB.
  const bytes = 64 * 1024;
  await db`
    insert into web_calls (owner_id, conversation_id, agent_id, dynamic_variables, metadata, token_digest, created_at, expires_at)
    select owner_id, gen_random_uuid(), agent_id, dynamic_variables, jsonb_build_object('note', repeat('x', ${bytes})),
      decode(md5(number::text), 'hex'), created_at, expires_at
    from web_calls, generate_series(1, 2100) as number where conversation_id = ${conversationId}`;
  expect(await serviceErrorOf(create(ownerId))).toMatchObject({ kind: "conflict", metadata: { full: "true" } });
  await create(newOwner(), { metadata: { note: "x".repeat(bytes) } });
  await deleteOldRows(
    db,
    { ...UNUSED_WEB_CALLS, keptMs: 0, rows: 10_000 },
    new Date(clock.now().getTime() + 6 * 60_000),
  );
  await create(ownerId);
});

test("a call that has begun keeps nothing of what it was created with, and one that failed keeps it", async () => {
  const given = { dynamicVariables: { name: "Ada" }, metadata: { note: "x" } };
  const call = await create(newOwner(), given);
  refusal = new ServiceError("unavailable", "No RTP port is free");
  expect(await serviceErrorOf(connect(call))).toBe(refusal);
  refusal = null;
  await connect(call);
  expect(connected).toEqual([expect.objectContaining({ call: expect.objectContaining(given) })]);
  const [row] = await db`
    select dynamic_variables, metadata from web_calls where conversation_id = ${call.conversationId}`;
  expect(row).toEqual({ dynamicVariables: {}, metadata: {} });
});

test("a repetition gets the same token, of which nothing can be read in the database", async () => {
  const ownerId = newOwner();
  const idempotency = { key: "once", fingerprint: Buffer.from("request") };
  const { token } = await create(ownerId, { idempotency });
  expect((await create(ownerId, { idempotency })).token).toBe(token);
  const [{ response } = { response: null }] = await db<{ response: Buffer | null }[]>`
    select response from idempotency_keys where owner_id = ${ownerId}`;
  expect(response?.length).toBeGreaterThan(0);
  expect(response?.includes(token)).toBeFalse();
});

test("a call that nobody connected is deleted when it has expired, and one that was connected can still be hung up", async () => {
  const ownerId = newOwner();
  const [unused, used] = [await create(ownerId), await create(ownerId)];
  await connect(used);
  await deleteOldRows(
    db,
    { ...UNUSED_WEB_CALLS, keptMs: 0, rows: 10_000 },
    new Date(clock.now().getTime() + 6 * 60_000),
  );
  const end = endWebCall(ctx);
  expect(await serviceErrorOf(end(unused, CALL) as Promise<unknown>)).toMatchObject({ kind: "unauthenticated" });
  expect(await end(used, CALL)).toEqual({});
});

/** Connects browsers, and holds their calls without an agent. */
function realWebCalls(ports = { first: 27_000, last: 27_099 }) {
  const begun: Promise<Leg>[] = [];
  const startCall: StartCall = async ({ conversationId = "" }, connect) => {
    begun.push(connect(listening().to, new AbortController().signal, async () => {}));
    return { conversationId, ended: new Promise(() => {}), hangUp: () => {} };
  };
  const options = { hostname: "127.0.0.1", ports, dropped: () => {} };
  return { begun, connecting: connectWebCall({ ...ctx, browsers: browserCalls(startCall, options) }) };
}

const CALL = {} as Parameters<ReturnType<typeof createWebCall>>[1];

function create(ownerId: string, given: object = {}) {
  const request = {
    ownerId,
    agentId: "agt_1",
    dynamicVariables: undefined,
    metadata: undefined,
    idempotency: undefined,
  };
  return createWebCall(ctx)({ ...request, ...given }, CALL) as Promise<{
    conversationId: string;
    token: string;
    iceServers: unknown[];
  }>;
}

async function connect({ conversationId, token }: { conversationId: string; token: string }) {
  return connectWebCall(ctx)({ conversationId, token, offer: "the offer" }, CALL);
}

async function end({ conversationId, token }: { conversationId: string; token: string }) {
  return endWebCall(ctx)({ conversationId, token }, CALL);
}
