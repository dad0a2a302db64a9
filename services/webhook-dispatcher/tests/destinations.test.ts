import { afterAll, describe, expect, test } from "bun:test";
import {
  ConversationServiceService,
  type SetWantedEventsRequest,
} from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { silentLogger } from "@parley/shared/log";
import { DEFAULT_EVENTS, EVENT_NAMES } from "@parley/shared/portable/events";
import { serve } from "@parley/shared/rpc/server";
import { fakeClock } from "@parley/testkit/clock";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import { WRONG_PAGES } from "@parley/testkit/pages";
import { DESTINATIONS_MAX } from "../src/rules.ts";
import {
  ANY,
  acceptEvent,
  DELIVERED,
  deliveriesOf,
  ended,
  FAILED,
  type GET,
  newDestination,
  newEvent,
  PENDING,
  POST,
  PUT,
  startTestDispatcher,
  UNSPECIFIED,
} from "./kit.ts";
import { fieldOf, isSignedWith, startReceiver } from "./receiver.ts";

const URL = "https://hooks.example.com/parley";
const NO_DESTINATION = "whd_00000000000000000000000000";
const NO_DELIVERY = "dlv_00000000000000000000000000";

/** What the conversation service was told. */
const told: SetWantedEventsRequest[] = [];
const conversation = await serve(
  ConversationServiceService,
  {
    setWantedEvents: async (request) => {
      told.push(request);
      return {};
    },
  },
  { address: "127.0.0.1:0", log: silentLogger },
);
const service = await startTestDispatcher({ PARLEY_CONVERSATION_ADDRESS: conversation.address });
afterAll(async () => {
  await service.stop();
  await conversation.stop();
});

describe("a destination", () => {
  test("is created, listed, changed field by field and deleted; its secret is shown once and sealed at rest", async () => {
    const { client, sql } = service;
    const { secret, ...made } = await newDestination(client, URL);
    expect(made).toMatchObject({
      name: "CRM",
      url: URL,
      requestType: POST,
      enabled: true,
      oldSecretValidUntil: undefined,
    });
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const { ownerId, destinationId } = made;
    expect((await client.listDestinations({ ownerId })).destinations).toEqual([made]);

    const change = { ownerId, destinationId, requestType: UNSPECIFIED };
    const renamed = await client.updateDestination({ ...change, name: "ERP" });
    expect(renamed.destination).toEqual({ ...made, name: "ERP", updatedAt: expect.any(Date) });
    const moved = await client.updateDestination({ ...change, url: `${URL}/2`, requestType: PUT, enabled: false });
    expect(moved.destination).toMatchObject({ name: "ERP", url: `${URL}/2`, requestType: PUT, enabled: false });

    const [row] = await sql`select sealed_secret from destinations where destination_id = ${destinationId}`;
    expect(row?.sealed_secret).toStartWith("v1.");
    expect(row?.sealed_secret).not.toContain(secret.slice(6));

    await client.deleteDestination({ ownerId, destinationId });
    expect((await client.listDestinations({ ownerId })).destinations).toEqual([]);
  });

  test("of another owner is not found by any call", async () => {
    const { client } = service;
    const { destinationId } = await newDestination(client, URL);
    const foreign = { ownerId: newOwner(), destinationId };
    const missing = { ...foreign, destinationId: NO_DESTINATION };
    for (const key of [foreign, missing, { ...foreign, destinationId: "whd_\0" }]) {
      const calls = [
        () => client.updateDestination({ ...key, requestType: UNSPECIFIED }),
        () => client.deleteDestination(key),
        () => client.rotateSecret(key),
        () => client.sendTestEvent(key),
        () => client.resendFailedDeliveries({ ...key, since: new Date() }),
      ];
      for (const call of calls) {
        expect(await failure(call())).toMatchObject({ kind: "not_found", detail: "Destination not found" });
      }
    }
  });

  test.each([
    [{ ownerId: "me" }, "owner_id", "owner_id must be the id of an owner"],
    [{ name: "" }, "name", "name must be 1 to 100 characters"],
    [{ name: " \u00a0" }, "name", "name must not be blank"],
    [{ name: "C\u0007RM" }, "name", "name must be printable characters only"],
    [{ name: "x".repeat(101) }, "name", "name must be 1 to 100 characters"],
    [{ url: "" }, "url", "url cannot be used: The address must start with https://"],
    [{ url: "ftp://example.com" }, "url", "url cannot be used: The address must start with https://"],
    [{ url: "http://example.com" }, "url", /^url cannot be used: The address must start with https/],
    [{ url: "https://10.0.0.1/" }, "url", /^url cannot be used: 10.0.0.1 is not at a public address/],
    [{ url: "https://u:p@example.com/" }, "url", /must not contain a user name/],
    [{ url: "https://example.com/a b" }, "url", "url must not contain spaces or control characters"],
    [{ url: `https://example.com/${"x".repeat(2048)}` }, "url", "url must be at most 2048 characters"],
    [{ requestType: UNSPECIFIED }, "request_type", "request_type must be one of GET, POST, PATCH, PUT"],
    [{ requestType: 9 as typeof GET }, "request_type", "request_type must be one of GET, POST, PATCH, PUT"],
  ])("with %j is refused, naming the field", async (given, path, detail) => {
    const refused = await failure(newDestination(service.client, URL, given));
    expect(refused).toMatchObject({ kind: "invalid", paths: [path] });
    expect(refused.detail).toMatch(detail);
  });

  test("may be one of at most fifty per owner, even when more are added concurrently", async () => {
    const ownerId = newOwner();
    const adding = Array.from({ length: DESTINATIONS_MAX + 5 }, () => newDestination(service.client, URL, { ownerId }));
    const outcomes = await Promise.allSettled(adding);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(DESTINATIONS_MAX);
    expect(await failure(newDestination(service.client, URL, { ownerId }))).toMatchObject({
      kind: "conflict",
      detail: "There are 50 destinations already: delete one first",
    });
  });

  test("whose secret was rotated receives signatures with both secrets", async () => {
    await using receiver = startReceiver();
    const { ownerId, destinationId, secret: old } = await newDestination(service.client, receiver.url);
    const { secret: fresh, oldSecretValidUntil } = await service.client.rotateSecret({ ownerId, destinationId });
    expect(fresh).not.toBe(old);
    const [shown] = (await service.client.listDestinations({ ownerId })).destinations;
    expect(shown?.oldSecretValidUntil).toEqual(oldSecretValidUntil);
    await acceptEvent(service.client, newEvent(ownerId));
    await ended(service.client, ownerId);
    const [received] = receiver.received;
    expect([old, fresh].map((secret) => received && isSignedWith(secret, received))).toEqual([true, true]);
  });
});

test("a test event is a sample of a completed conversation, delivered like any other and marked in the log", async () => {
  await using receiver = startReceiver();
  const { ownerId, destinationId, secret } = await newDestination(service.client, receiver.url);
  const { deliveryId } = await service.client.sendTestEvent({ ownerId, destinationId });
  const [delivery] = await ended(service.client, ownerId);
  expect(delivery).toMatchObject({ deliveryId, test: true, status: DELIVERED, event: "conversation.completed" });
  const [received] = receiver.received;
  expect(received && isSignedWith(secret, received)).toBeTrue();
  expect(JSON.parse(received ? fieldOf(received, "payload") : "")).toMatchObject({
    event: "conversation.completed",
    conversation_id: delivery?.conversationId,
    is_test_call: true,
    conversation_transcript: expect.any(Array),
    conversation_analysis: expect.any(Array),
  });
});

test("a sample of every event can be sent, whatever the destination gets", async () => {
  await using receiver = startReceiver();
  const { ownerId, destinationId } = await newDestination(service.client, receiver.url);
  for (const event of EVENT_NAMES) await service.client.sendTestEvent({ ownerId, destinationId, event });
  await ended(service.client, ownerId, EVENT_NAMES.length);
  expect(receiver.received.map((received) => fieldOf(received, "event")).toSorted()).toEqual(EVENT_NAMES.toSorted());
  const unknown = service.client.sendTestEvent({ ownerId, destinationId, event: "conversation.begun" });
  expect(await failure(unknown)).toMatchObject({ kind: "invalid", detail: expect.stringContaining("event must be") });
});

describe("the events of a destination", () => {
  test("are those that it asks for, and the ends of conversations by default", async () => {
    await using receiver = startReceiver();
    const ownerId = newOwner();
    const named = (name: string, given = {}) =>
      newDestination(service.client, `${receiver.url}/${name}`, { ownerId, ...given });
    expect((await named("ends")).events).toEqual([...DEFAULT_EVENTS]);
    await named("starts", { events: { names: ["conversation.started"] } });
    await acceptEvent(service.client, newEvent(ownerId, { event: "conversation.started" }));
    await acceptEvent(service.client, newEvent(ownerId, { event: "alert.opened", conversationId: "" }));
    await acceptEvent(service.client, newEvent(ownerId, { event: "conversation.failed" }));
    await ended(service.client, ownerId, 2);
    const arrived = receiver.received.map((each) => `${each.target} ${fieldOf(each, "event")}`).toSorted();
    expect(arrived).toEqual(["/hook/ends conversation.failed", "/hook/starts conversation.started"]);
    // Nothing is stored of one that nobody wants.
    expect(await service.sql`select from events where owner_id = ${ownerId}`).toHaveLength(2);
    expect(await deliveriesOf(service.client, ownerId, { event: "conversation.started" })).toHaveLength(1);
  });

  test.each([
    [[], "events must have at least one event"],
    [["conversation.failed", "conversation.failed"], "events must name each event once"],
    [["conversation.failed", "conversation.begun"], "events.1 must be one of conversation.completed, "],
  ])("cannot be %j", async (names, detail) => {
    const { ownerId, destinationId } = await newDestination(service.client, URL);
    const refused = { kind: "invalid", detail: expect.stringContaining(detail) };
    expect(await failure(newDestination(service.client, URL, { events: { names } }))).toMatchObject(refused);
    const change = { ownerId, destinationId, requestType: UNSPECIFIED, events: { names } };
    expect(await failure(service.client.updateDestination(change))).toMatchObject(refused);
  });

  test("beyond the ends of conversations are told to the conversation service before the change is answered", async () => {
    const { client } = service;
    const ownerId = newOwner();
    const toldOf = () =>
      told
        .filter((each) => each.ownerId === ownerId)
        .at(-1)
        ?.events.toSorted();
    await newDestination(client, URL, { ownerId });
    expect(toldOf()).toBeUndefined();
    const names = ["conversation.failed", "tool.failed"];
    const { destinationId } = await newDestination(client, URL, { ownerId, events: { names } });
    expect(toldOf()).toEqual(["tool.failed"]);
    await newDestination(client, URL, { ownerId, events: { names: ["tool.failed", "alert.opened"] } });
    expect(toldOf()).toEqual(["alert.opened", "tool.failed"]);
    const change = { ownerId, destinationId, requestType: UNSPECIFIED };
    await client.updateDestination({ ...change, events: { names: ["recording.ready"] } });
    expect(toldOf()).toEqual(["alert.opened", "recording.ready", "tool.failed"]);
    await client.updateDestination({ ...change, enabled: false });
    expect(toldOf()).toEqual(["alert.opened", "tool.failed"]);
  });
});

test("a test event to a disabled destination is refused", async () => {
  const { ownerId, destinationId } = await newDestination(service.client, URL, { enabled: false });
  expect(await failure(service.client.sendTestEvent({ ownerId, destinationId }))).toMatchObject({
    kind: "condition",
    detail: "Destination is disabled: enable it first",
  });
});

test.each([
  [{ ownerId: "me" }, "owner_id"],
  [{ eventId: "1" }, "event_id"],
  [{ event: "conversation.begun" }, "event"],
  [{ conversationId: "1" }, "conversation_id"],
  [{ payload: "" }, "payload"],
  [{ payload: "\0" }, "payload"],
])("an event with %j is refused, naming the field", async (given, path) => {
  const { results } = await service.client.batchAcceptEvents({ events: [newEvent(newOwner(), given)] });
  expect(results[0]?.refusal).toStartWith(`${path} must be `);
});

test("the log is listed newest first, page by page, with combined filters", async () => {
  await using receiver = startReceiver();
  receiver.answer = ({ target }) => new Response("", { status: target === "/hook" ? 200 : 400 });
  const ownerId = newOwner();
  const good = await newDestination(service.client, receiver.url, { ownerId });
  const bad = await newDestination(service.client, `${receiver.url}/bad`, { ownerId });
  const events = [newEvent(ownerId), newEvent(ownerId), newEvent(ownerId)];
  for (const event of events) await acceptEvent(service.client, event);
  const all = await ended(service.client, ownerId, 6);
  expect(all.map(({ deliveryId }) => deliveryId)).toEqual(
    all
      .map(({ deliveryId }) => deliveryId)
      .toSorted()
      .toReversed(),
  );

  const list = (given: object) =>
    service.client.listDeliveries({
      ownerId,
      page: { number: 1, size: 100 },
      destinationId: "",
      conversationId: "",
      status: ANY,
      ...given,
    });
  const page = await list({ page: { number: 2, size: 4 } });
  expect(page).toEqual({ deliveries: all.slice(4), total: 6 });
  expect(await list({ destinationId: bad.destinationId })).toMatchObject({ total: 3 });
  expect(await list({ status: FAILED })).toMatchObject({ total: 3 });
  expect(await list({ status: FAILED, destinationId: good.destinationId })).toEqual({ deliveries: [], total: 0 });
  const { conversationId } = events[1] ?? { conversationId: "" };
  expect(await list({ conversationId, status: DELIVERED })).toMatchObject({
    total: 1,
    deliveries: [{ conversationId, destinationId: good.destinationId }],
  });
  expect(await list({ ownerId: newOwner() })).toEqual({ deliveries: [], total: 0 });
  expect(await list({ conversationId: "\0" })).toEqual({ deliveries: [], total: 0 });
  expect(await failure(list({ status: 9 }))).toMatchObject({ kind: "invalid", paths: ["status"] });
  const [first] = all;
  expect(await service.client.getDelivery({ ownerId, deliveryId: first?.deliveryId ?? "" })).toMatchObject({
    delivery: { deliveryId: first?.deliveryId, status: first?.status, createdAt: first?.createdAt },
  });
});

test("the log shows when the next attempt is due: 10 s after the last one ended", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("", { status: 500 });
  const clock = fakeClock();
  const standing = await startTestDispatcher({ PARLEY_WEBHOOK_RETRY_MS: "" }, { clock });
  try {
    const { ownerId } = await newDestination(standing.client, receiver.url);
    await acceptEvent(standing.client, newEvent(ownerId));
    for (const attempts of [1, 2, 3]) {
      await eventually(async () => {
        const [delivery] = await deliveriesOf(standing.client, ownerId);
        expect(delivery).toMatchObject({
          status: PENDING,
          attempts: Array(attempts).fill({ httpStatus: 500 }),
          nextAttemptAt: new Date(clock.now().getTime() + 10_000),
        });
      });
      clock.advance(10_000);
    }
    expect(await ended(standing.client, ownerId)).toMatchObject([{ status: FAILED }]);
  } finally {
    await standing.stop();
  }
});

test("the log is kept for 30 days", async () => {
  await using receiver = startReceiver();
  const clock = fakeClock();
  const standing = await startTestDispatcher({}, { clock });
  try {
    const { ownerId } = await newDestination(standing.client, receiver.url);
    await standing.client.batchAcceptEvents({ events: [newEvent(ownerId), newEvent(ownerId)] });
    await ended(standing.client, ownerId, 2);
    clock.advance(30 * 86_400_000 - 1);
    await acceptEvent(standing.client, newEvent(ownerId));
    await ended(standing.client, ownerId, 3);
    clock.advance(3_600_000);
    await eventually(async () => expect(await deliveriesOf(standing.client, ownerId)).toHaveLength(1));
    await eventually(async () => {
      for (const table of ["events", "attempts"])
        expect(await standing.sql`select 1 from ${standing.sql(table)}`).toHaveLength(1);
    });
  } finally {
    await standing.stop();
  }
});

describe("sending again", () => {
  test("gives a failed delivery four more attempts, and keeps the first ones in the log", async () => {
    await using receiver = startReceiver();
    receiver.answer = () => new Response("", { status: receiver.received.length < 6 ? 500 : 200 });
    const { ownerId } = await newDestination(service.client, receiver.url);
    await acceptEvent(service.client, newEvent(ownerId));
    const [failed] = await ended(service.client, ownerId);
    expect(failed).toMatchObject({ status: FAILED, attempts: Array(4).fill({}) });
    const key = { ownerId, deliveryId: failed?.deliveryId ?? "" };
    expect((await service.client.resendDelivery(key)).delivery).toMatchObject({ deliveryId: key.deliveryId });
    const [again] = await ended(service.client, ownerId);
    expect(again?.status).toBe(DELIVERED);
    expect(again?.attempts.map(({ number, httpStatus }) => [number, httpStatus])).toEqual([
      [1, 500],
      [2, 500],
      [3, 500],
      [4, 500],
      [5, 500],
      [6, 200],
    ]);
    await service.client.resendDelivery(key);
    await eventually(() => expect(receiver.received).toHaveLength(7));
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(1);
  });

  test("retries all failed deliveries of one destination since a time", async () => {
    await using receiver = startReceiver();
    receiver.answer = () => new Response("", { status: 500 });
    const clock = fakeClock();
    const standing = await startTestDispatcher({}, { clock });
    try {
      const ownerId = newOwner();
      const { destinationId } = await newDestination(standing.client, receiver.url, { ownerId });
      await newDestination(standing.client, `${receiver.url}/other`, { ownerId });
      for (const _ of [1, 2, 3]) {
        clock.advance(1_000);
        await acceptEvent(standing.client, newEvent(ownerId));
        await eventually(async () => {
          clock.advance(1_000);
          expect(await deliveriesOf(standing.client, ownerId, { status: PENDING })).toEqual([]);
        });
      }
      const [, middle] = await deliveriesOf(standing.client, ownerId, { destinationId });
      receiver.answer = () => new Response("ok");
      const since = middle?.createdAt;
      expect(await standing.client.resendFailedDeliveries({ ownerId, destinationId, since })).toEqual({ resent: 2 });
      const after = await ended(standing.client, ownerId, 6);
      const statuses = (of: boolean) =>
        after.filter((each) => (each.destinationId === destinationId) === of).map(({ status }) => status);
      expect(statuses(true)).toEqual([DELIVERED, DELIVERED, FAILED]);
      expect(statuses(false)).toEqual([FAILED, FAILED, FAILED]);
    } finally {
      await standing.stop();
    }
  });

  test("is refused for a pending delivery, a disabled or deleted destination, and another owner's delivery", async () => {
    await using receiver = startReceiver();
    const { client } = service;
    const { ownerId, destinationId } = await newDestination(client, receiver.url);
    const answer = Promise.withResolvers<Response>();
    receiver.answer = () => answer.promise;
    await acceptEvent(client, newEvent(ownerId));
    const [delivery] = await deliveriesOf(client, ownerId);
    const key = { ownerId, deliveryId: delivery?.deliveryId ?? "" };
    expect(await failure(client.resendDelivery(key))).toMatchObject({
      kind: "condition",
      detail: "Delivery is still pending: it can be resent after it ends",
    });
    answer.resolve(new Response("ok"));
    await ended(client, ownerId);
    await client.updateDestination({ ownerId, destinationId, enabled: false, requestType: UNSPECIFIED });
    expect(await failure(client.resendDelivery(key))).toMatchObject({
      kind: "condition",
      detail: "Destination is disabled: enable it first",
    });
    await client.deleteDestination({ ownerId, destinationId });
    expect(await failure(client.resendDelivery(key))).toMatchObject({
      kind: "condition",
      detail: "Destination was deleted: its deliveries cannot be resent",
    });
    for (const other of [
      { ...key, ownerId: newOwner() },
      { ...key, deliveryId: NO_DELIVERY },
      { ...key, deliveryId: "x" },
    ]) {
      expect(await failure(client.resendDelivery(other))).toMatchObject({ detail: "Delivery not found" });
      expect(await failure(client.getDelivery(other))).toMatchObject({ detail: "Delivery not found" });
    }
    expect(await failure(client.resendFailedDeliveries({ ownerId, destinationId, since: undefined }))).toMatchObject({
      kind: "invalid",
      paths: ["since"],
    });
  });
});

test.each(WRONG_PAGES)(
  "a list of deliveries refuses page $page.number of size $page.size and names the field",
  async ({ page, field }) => {
    expect(
      await failure(
        service.client.listDeliveries({
          ownerId: newOwner(),
          page,
          destinationId: "",
          conversationId: "",
          status: ANY,
        }),
      ),
    ).toMatchObject({ kind: "invalid", paths: [field] });
  },
);
