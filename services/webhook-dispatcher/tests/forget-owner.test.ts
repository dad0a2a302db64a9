import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { countOwnedRows, newOwner } from "@parley/testkit/owners";
import { DELIVERED, ended, newDestination, newEvent, startTestDispatcher } from "./kit.ts";
import { startReceiver } from "./receiver.ts";

const service = await startTestDispatcher({ PARLEY_WEBHOOK_RETRY_MS: "60000" });
afterAll(() => service.stop());

/** Without what counts the bytes of an owner who has some. */
async function rowsOf(ownerId: string): Promise<Record<string, number>> {
  const { stored_changes, ...rows } = await countOwnedRows(service.sql, ownerId);
  return rows.deliveries ? rows : { ...rows, ...(stored_changes && { stored_changes }) };
}

test("a deleted owner's destinations, events, deliveries and attempts are deleted; another owner's stay", async () => {
  await using receiver = startReceiver();
  await using failing = startReceiver();
  failing.answer = () => new Response("", { status: 500 });
  const { client } = service;
  const [gone, stays] = [newOwner(), newOwner()];
  for (const ownerId of [gone, stays]) {
    for (const { url } of [receiver, failing]) await newDestination(client, url, { ownerId });
    await client.batchAcceptEvents({ events: [newEvent(ownerId), newEvent(ownerId)] });
    await eventually(async () => expect(await rowsOf(ownerId)).toMatchObject({ attempts: 4, jobs: 1 }));
  }
  for (const _ of ["once", "once more"]) await client.forgetOwner({ ownerId: gone });
  await eventually(async () => expect(await rowsOf(gone)).toEqual({}));
  expect(await rowsOf(stays)).toEqual({ attempts: 4, deliveries: 4, destinations: 2, events: 2, jobs: 1 });
});

test("a deleted owner gets no further attempt, and an attempt in progress leaves nothing behind", async () => {
  await using receiver = startReceiver();
  const answers = Promise.withResolvers<void>();
  receiver.answer = async () => {
    await answers.promise;
    return new Response("", { status: 500 });
  };
  const { client } = service;
  const { ownerId } = await newDestination(client, receiver.url);
  await client.batchAcceptEvents({ events: Array.from({ length: 60 }, () => newEvent(ownerId)) });
  await eventually(() => expect(receiver.received).toHaveLength(32));
  await client.forgetOwner({ ownerId });
  // The lane's job stays until the attempts in progress have ended.
  await eventually(async () => expect(await rowsOf(ownerId)).toEqual({ jobs: 1 }));
  answers.resolve();
  await eventually(async () => expect(await rowsOf(ownerId)).toEqual({}));
  expect(receiver.received).toHaveLength(32);
});

test("events of a deleted owner that arrive later are not stored", async () => {
  await using receiver = startReceiver();
  const { client } = service;
  const { ownerId } = await newDestination(client, receiver.url);
  await client.batchAcceptEvents({ events: [newEvent(ownerId)] });
  expect(await ended(client, ownerId)).toMatchObject([{ status: DELIVERED }]);
  await client.forgetOwner({ ownerId });
  await client.batchAcceptEvents({ events: [newEvent(ownerId)] });
  await eventually(async () => expect(await rowsOf(ownerId)).toEqual({}));
  expect(receiver.received).toHaveLength(1);
});
