import { afterAll, describe, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { failure } from "@parley/testkit/failures";
import { newOwner } from "@parley/testkit/owners";
import {
  acceptEvent,
  CANCELLED,
  DELIVERED,
  deliveriesOf,
  ended,
  FAILED,
  newDestination,
  newEvent,
  startTestDispatcher,
} from "./kit.ts";
import { fieldOf, startReceiver } from "./receiver.ts";

const service = await startTestDispatcher();
afterAll(() => service.stop());

/** Rows of a table with the text in any column, as they are on disk now. */
async function quoting(text: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of ["events", "deliveries", "attempts", "jobs"]) {
    const rows = await service.sql`
      select 1 from ${service.sql(table)} as stored where strpos(stored::text, ${text}) > 0`;
    counts[table] = rows.length;
  }
  return counts;
}

const NOWHERE = { events: 0, deliveries: 0, attempts: 0, jobs: 0 };

describe("a forgotten conversation", () => {
  test("leaves no payload or response on disk; its attempts stay in the log, and others are untouched", async () => {
    await using receiver = startReceiver();
    receiver.answer = (received) => new Response(`got ${fieldOf(received, "payload")}`);
    const { client } = service;
    const ownerId = newOwner();
    await newDestination(client, receiver.url, { ownerId });
    await newDestination(client, `${receiver.url}/other`, { ownerId });
    const [gone, kept] = [newEvent(ownerId, { payload: '"zebra"' }), newEvent(ownerId, { payload: '"giraffe"' })];
    const foreign = newEvent((await newDestination(client, receiver.url)).ownerId, {
      conversationId: gone.conversationId,
      payload: '"ostrich"',
    });
    await client.batchAcceptEvents({ events: [gone, kept, foreign] });
    await ended(client, ownerId, 4);
    await ended(client, foreign.ownerId);
    expect(await quoting("zebra")).toEqual({ ...NOWHERE, events: 1, attempts: 2 });

    const request = { ownerId, conversationIds: [gone.conversationId, "no conversation's"] };
    for (const _ of ["at first", "once more"]) await client.forgetConversations(request);
    // A relay that did not get the answer sends it again.
    await acceptEvent(client, gone);
    expect(await quoting("zebra")).toEqual(NOWHERE);
    expect(await quoting("giraffe")).toEqual({ ...NOWHERE, events: 1, attempts: 2 });
    expect(await quoting("ostrich")).toEqual({ ...NOWHERE, events: 1, attempts: 1 });
    const logged = await deliveriesOf(client, ownerId, { conversationId: gone.conversationId });
    const attempts = [{ number: 1, httpStatus: 200, responseExcerpt: undefined }];
    expect(logged).toMatchObject([
      { status: DELIVERED, event: "conversation.completed", attempts },
      { status: DELIVERED, event: "conversation.completed", attempts },
    ]);
  });

  test("has pending deliveries cancelled, and later responses are not stored", async () => {
    await using receiver = startReceiver();
    const answers = Promise.withResolvers<void>();
    receiver.answer = async (received) => {
      await answers.promise;
      return new Response(`not now: ${fieldOf(received, "payload")}`, { status: 500 });
    };
    const { client } = service;
    const { ownerId } = await newDestination(client, receiver.url);
    const events = Array.from({ length: 60 }, () => newEvent(ownerId, { payload: '"okapi"' }));
    await client.batchAcceptEvents({ events });
    await eventually(() => expect(receiver.received).toHaveLength(32));
    await client.forgetConversations({ ownerId, conversationIds: events.map((event) => event.conversationId) });
    const cancelled = await deliveriesOf(client, ownerId);
    expect(cancelled.map(({ status, nextAttemptAt }) => [status, nextAttemptAt])).toEqual(
      Array(60).fill([CANCELLED, undefined]),
    );
    answers.resolve();
    await eventually(async () => {
      const made = (await deliveriesOf(client, ownerId)).flatMap(({ attempts }) => attempts);
      expect(made.length).toBeGreaterThanOrEqual(32);
      expect(made).toHaveLength(receiver.received.length);
    });
    const deliveries = await deliveriesOf(client, ownerId);
    expect(deliveries.every(({ status, attempts }) => status === CANCELLED && attempts.length <= 1)).toBeTrue();
    expect(await quoting("okapi")).toEqual(NOWHERE);
  });

  test("cannot be resent: alone it is refused, among all failed ones it is skipped", async () => {
    await using receiver = startReceiver();
    receiver.answer = () => new Response("", { status: 500 });
    const { client } = service;
    const { ownerId, destinationId } = await newDestination(client, receiver.url);
    const [gone, kept] = [newEvent(ownerId), newEvent(ownerId)];
    await client.batchAcceptEvents({ events: [gone, kept] });
    await ended(client, ownerId, 2);
    await client.forgetConversations({ ownerId, conversationIds: [gone.conversationId] });
    const [delivery] = await deliveriesOf(client, ownerId, { conversationId: gone.conversationId });
    expect(await failure(client.resendDelivery({ ownerId, deliveryId: delivery?.deliveryId ?? "" }))).toMatchObject({
      kind: "condition",
      detail: "Delivery cannot be resent: its conversation is past retention and its payload is deleted",
    });
    const since = new Date(0);
    expect(await client.resendFailedDeliveries({ ownerId, destinationId, since })).toEqual({ resent: 1 });
    await ended(client, ownerId, 2);
    expect(await deliveriesOf(client, ownerId, { conversationId: gone.conversationId })).toMatchObject([
      { status: FAILED, attempts: Array(4).fill({}) },
    ]);
  });
});
