import { afterAll, describe, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { startRawServer } from "@parley/testkit/network/raw-server";
import { newOwner } from "@parley/testkit/owners";
import { acceptEvent, DELIVERED, ended, FAILED, newDestination, newEvent, startTestDispatcher } from "./kit.ts";
import { startReceiver } from "./receiver.ts";

/** A dispatcher that waits for an answer no longer than a second. */
const [service, hasty] = await Promise.all([
  startTestDispatcher(),
  startTestDispatcher({ PARLEY_WEBHOOK_TIMEOUT_MS: "1000" }),
]);
afterAll(() => Promise.all([service.stop(), hasty.stop()]));

describe("an attempt", () => {
  test("answered with 500 is repeated until a 2xx, and each attempt is logged", async () => {
    await using receiver = startReceiver();
    receiver.answer = () =>
      receiver.received.length < 3 ? new Response("not now\0", { status: 500 }) : new Response(null, { status: 204 });
    const { ownerId } = await newDestination(service.client, receiver.url);
    await acceptEvent(service.client, newEvent(ownerId));
    const [delivery] = await ended(service.client, ownerId);
    expect(delivery).toMatchObject({ status: DELIVERED, nextAttemptAt: undefined });
    expect(delivery?.attempts).toMatchObject([
      { number: 1, httpStatus: 500, error: undefined, responseExcerpt: "not now\ufffd" },
      { number: 2, httpStatus: 500 },
      { number: 3, httpStatus: 204, error: undefined, responseExcerpt: "" },
    ]);
    const sent = receiver.received.map(({ headers }) => headers["webhook-id"]);
    expect(new Set(sent)).toEqual(new Set([delivery?.eventId]));
  });

  test("that failed is repeated however many others of its destination end or are added at the time", async () => {
    await using receiver = startReceiver();
    const seen = new Set<string>();
    receiver.answer = async ({ target, headers }) => {
      const delivery = `${target} ${headers["webhook-id"]}`;
      await Bun.sleep(Math.random() * 4);
      if (seen.has(delivery)) return new Response("ok");
      seen.add(delivery);
      return new Response("", { status: 500 });
    };
    const ownerId = newOwner();
    for (let at = 0; at < 10; at++) await newDestination(service.client, `${receiver.url}/${at}`, { ownerId });
    for (let round = 0; round < 10; round++) await acceptEvent(service.client, newEvent(ownerId));
    const deliveries = await ended(service.client, ownerId, 100);
    expect(deliveries.map(({ status }) => status)).toEqual(Array(100).fill(DELIVERED));
  });

  test("answered with 3xx has failed, and the redirect is not followed", async () => {
    await using receiver = startReceiver();
    receiver.answer = () => Response.redirect(`${receiver.url}/elsewhere`, 302);
    const { ownerId } = await newDestination(service.client, receiver.url);
    await acceptEvent(service.client, newEvent(ownerId));
    const [delivery] = await ended(service.client, ownerId);
    expect(delivery?.status).toBe(FAILED);
    expect(delivery?.attempts[3]).toMatchObject({ number: 4, httpStatus: 302, error: undefined });
    expect(receiver.received.every(({ target }) => target === "/hook")).toBeTrue();
  });

  test("that is never answered times out, and its connection is closed", async () => {
    await using silent = await startRawServer(() => {});
    const { ownerId } = await newDestination(hasty.client, silent.url);
    await acceptEvent(hasty.client, newEvent(ownerId));
    const [delivery] = await ended(hasty.client, ownerId);
    expect(delivery?.status).toBe(FAILED);
    expect(delivery?.attempts[0]).toMatchObject({
      httpStatus: undefined,
      error: "The response was not complete within 1 s",
      responseExcerpt: undefined,
    });
    await eventually(() => expect(silent.connections.every(({ isClosed }) => isClosed)).toBeTrue());
  });

  test("whose connection is reset or refused says so", async () => {
    await using rude = await startRawServer((socket) => socket.destroy());
    const { ownerId } = await newDestination(service.client, rude.url);
    await newDestination(service.client, "http://127.0.0.1:1/", { ownerId });
    await acceptEvent(service.client, newEvent(ownerId));
    const deliveries = await ended(service.client, ownerId, 2);
    expect(deliveries.map(({ status }) => status)).toEqual([FAILED, FAILED]);
    expect(deliveries.map(({ attempts }) => attempts[3]?.error).toSorted()).toEqual([
      "127.0.0.1 closed the connection before the response was complete",
      "127.0.0.1 refused the connection",
    ]);
  });

  test("with an endless 2xx response is a success, and its first 4 KiB are stored", async () => {
    await using endless = await startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\n\r\n");
      const timer = setInterval(() => socket.write("ü".repeat(700)), 1);
      socket.on("close", () => clearInterval(timer));
    });
    const { ownerId } = await newDestination(service.client, endless.url);
    await acceptEvent(service.client, newEvent(ownerId));
    const [delivery] = await ended(service.client, ownerId);
    expect(delivery?.status).toBe(DELIVERED);
    expect(delivery?.attempts).toMatchObject([{ httpStatus: 200, responseExcerpt: "ü".repeat(2048) }]);
    await eventually(() => expect(endless.connections.every(({ isClosed }) => isClosed)).toBeTrue());
  });

  test("with a slow endless 2xx response times out as a success", async () => {
    await using slow = await startRawServer((socket) => {
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nwell");
    });
    const { ownerId } = await newDestination(hasty.client, slow.url);
    await acceptEvent(hasty.client, newEvent(ownerId));
    const [delivery] = await ended(hasty.client, ownerId);
    expect(delivery).toMatchObject({ status: DELIVERED, attempts: [{ httpStatus: 200, responseExcerpt: "well" }] });
  });

  test("that another process made in the meantime is not counted twice: its own outcome is dropped, and the next is made", async () => {
    await using receiver = startReceiver();
    const answer = Promise.withResolvers<Response>();
    receiver.answer = () => answer.promise;
    const { ownerId } = await newDestination(service.client, receiver.url);
    await acceptEvent(service.client, newEvent(ownerId));
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await service.sql`update deliveries set attempts = 1, attempts_left = 3 where owner_id = ${ownerId}`;
    receiver.answer = () => new Response("ok");
    answer.resolve(new Response("ok"));
    const [delivery] = await ended(service.client, ownerId);
    expect(delivery).toMatchObject({ status: DELIVERED, attempts: [{ number: 2 }] });
    expect(receiver.received).toHaveLength(2);
  });

  test("that is running when its process reclaims the destination's job is not repeated", async () => {
    await using receiver = startReceiver();
    const answer = Promise.withResolvers<Response>();
    receiver.answer = () => answer.promise;
    const short = await startTestDispatcher({ PARLEY_WEBHOOK_LEASE_MS: "600" });
    try {
      const { ownerId, destinationId } = await newDestination(short.client, receiver.url);
      await acceptEvent(short.client, newEvent(ownerId));
      await eventually(() => expect(receiver.received).toHaveLength(1));
      const lease = async () => {
        const [job] = await short.sql<
          { lease: number }[]
        >`select lease::integer from jobs where job_id = ${destinationId}`;
        return job?.lease ?? 0;
      };
      const before = await lease();
      await eventually(async () => {
        // Repeated, because the process that holds the lease extends it.
        await short.sql`
          update jobs set leased_until = '2000-01-01' where job_id = ${destinationId} and lease = ${before}`;
        expect(await lease()).toBeGreaterThan(before);
      });
      answer.resolve(new Response("ok"));
      const [delivery] = await ended(short.client, ownerId);
      expect(delivery).toMatchObject({ status: DELIVERED, attempts: [{ number: 1 }] });
      expect(receiver.received).toHaveLength(1);
    } finally {
      await short.stop();
    }
  });

  test("that cannot be signed is logged as failed", async () => {
    await using receiver = startReceiver();
    const { ownerId } = await newDestination(service.client, receiver.url);
    await service.sql`update destinations set sealed_secret = 'v1.other.key' where owner_id = ${ownerId}`;
    await acceptEvent(service.client, newEvent(ownerId));
    const [delivery] = await ended(service.client, ownerId);
    expect(delivery?.status).toBe(FAILED);
    expect(delivery?.attempts[0]).toMatchObject({
      httpStatus: undefined,
      error: "The request could not be made: an internal error",
    });
    expect(receiver.received).toEqual([]);
  });

  test("to a name that resolves to a private address is never made", async () => {
    const { ownerId } = await newDestination(service.client, "https://localhost.localdomain/");
    await acceptEvent(service.client, newEvent(ownerId));
    const [delivery] = await ended(service.client, ownerId);
    expect(delivery?.status).toBe(FAILED);
    expect(delivery?.attempts[0]?.error).toMatch(/not at a public address|could not be resolved/);
  });
});
