import { afterAll, describe, expect, test } from "bun:test";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { startRawServer } from "@parley/testkit/network/raw-server";
import { newOwner } from "@parley/testkit/owners";
import {
  acceptEvent,
  CANCELLED,
  DELIVERED,
  deliveriesOf,
  ended,
  GET,
  newDestination,
  newEvent,
  PATCH,
  POST,
  PUT,
  startTestDispatcher,
} from "./kit.ts";
import { fieldOf, isSignedWith, type Received, startReceiver } from "./receiver.ts";

/** A dispatcher that waits for an answer no longer than a second. */
const [service, hasty] = await Promise.all([
  startTestDispatcher(),
  startTestDispatcher({ PARLEY_WEBHOOK_TIMEOUT_MS: "1000" }),
]);
afterAll(() => Promise.all([service.stop(), hasty.stop()]));

test.each([
  ["POST", POST],
  ["PATCH", PATCH],
  ["PUT", PUT],
])(
  "what arrives by %s is a signed form of exactly two fields, with the payload byte for byte",
  async (method, requestType) => {
    await using receiver = startReceiver();
    const { ownerId, secret } = await newDestination(service.client, `${receiver.url}?a=1`, { requestType });
    const event = newEvent(ownerId, { payload: '{\n "text":\r\n "\\u0000 – 🎉 --boundary"\r}' });
    await acceptEvent(service.client, event);
    await ended(service.client, ownerId);
    const [received] = receiver.received;
    expect(receiver.received).toHaveLength(1);
    expect(received).toMatchObject({ method, target: "/hook?a=1" });
    expect(received?.headers["content-type"]).toStartWith("multipart/form-data; boundary=");
    expect(received?.headers["webhook-id"]).toBe(event.eventId);
    expect(received?.fields).toEqual([
      ["event", "conversation.completed"],
      ["payload", event.payload],
    ]);
    expect(received && isSignedWith(secret, received)).toBeTrue();
    expect(received && isSignedWith(`whsec_${Buffer.alloc(32).toString("base64")}`, received)).toBeFalse();
  },
);

test("what arrives is shown with the delivery: the payload, the address, and the headers of each attempt as the receiver got them", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("", { status: receiver.received.length < 2 ? 503 : 204 });
  const { ownerId, destinationId } = await newDestination(service.client, `${receiver.url}?a=1`);
  const event = newEvent(ownerId);
  await acceptEvent(service.client, event);
  const [listed] = await ended(service.client, ownerId);
  const { client } = service;
  await client.updateDestination({ ownerId, destinationId, url: "https://elsewhere.example/", requestType: PUT });
  const { delivery } = await client.getDelivery({ ownerId, deliveryId: listed?.deliveryId ?? "" });
  expect(delivery?.payload).toBe(event.payload);
  const requests = delivery?.attempts.map(({ request }) => request) ?? [];
  expect(requests).toHaveLength(2);
  for (const [at, request] of requests.entries()) {
    expect(request).toMatchObject({ method: POST, url: `${receiver.url}?a=1` });
    expect(request?.headers).toMatchObject({ "user-agent": "Parley", "webhook-id": event.eventId });
    expect(receiver.received[at]?.headers).toMatchObject(request?.headers ?? {});
  }
  // A list has neither.
  expect(listed?.payload).toBeUndefined();
  expect(listed?.attempts.map(({ request }) => request)).toEqual([undefined, undefined]);
});

test("what arrives by GET is shown as it was sent: without a long transcript, and without the payload in the address", async () => {
  await using receiver = startReceiver();
  const { ownerId } = await newDestination(service.client, receiver.url, { requestType: GET });
  const conversation_transcript = [{ role: "user", content: "x".repeat(70_000) }];
  const payload = JSON.stringify({ event: "conversation.completed", conversation_transcript });
  await acceptEvent(service.client, newEvent(ownerId, { payload }));
  const [listed] = await ended(service.client, ownerId);
  const { delivery } = await service.client.getDelivery({ ownerId, deliveryId: listed?.deliveryId ?? "" });
  expect(delivery?.payload).toBe(fieldOf(receiver.received[0] as Received, "payload"));
  expect(delivery?.attempts[0]?.request).toMatchObject({ method: GET, url: receiver.url });
});

test("what arrives by GET is the URL's own query unchanged, then event and payload, signed", async () => {
  await using receiver = startReceiver();
  const url = `${receiver.url}?token=a+b%20c&flag`;
  const { ownerId, secret } = await newDestination(service.client, url, { requestType: GET });
  const event = newEvent(ownerId, { event: "conversation.failed" });
  await acceptEvent(service.client, event);
  await ended(service.client, ownerId);
  const [received] = receiver.received;
  expect(received?.method).toBe("GET");
  expect(received?.target).toStartWith("/hook?token=a+b%20c&flag&event=conversation.failed&payload=%7B%22");
  expect(received?.target).not.toContain("+more");
  expect(received && fieldOf(received, "payload")).toBe(event.payload);
  expect(received && isSignedWith(secret, received)).toBeTrue();
});

test("what arrives goes once to every enabled destination of the owner, and to no other owner's", async () => {
  await using receiver = startReceiver();
  const ownerId = newOwner();
  const named = (name: string, given = {}) =>
    newDestination(service.client, `${receiver.url}/${name}`, { ownerId, ...given });
  await Promise.all([named("a"), named("b"), named("off", { enabled: false })]);
  await newDestination(service.client, `${receiver.url}/foreign`);
  await acceptEvent(service.client, newEvent(ownerId));
  await ended(service.client, ownerId, 2);
  expect(receiver.received.map(({ target }) => target).toSorted()).toEqual(["/hook/a", "/hook/b"]);
});

test("the events of a conversation arrive in order, the later ones once the earlier one has arrived or failed", async () => {
  await using receiver = startReceiver();
  const names = ["conversation.started", "transfer.failed", "conversation.completed"];
  const { ownerId } = await newDestination(service.client, receiver.url, { events: { names } });
  const conversationId = newUuid();
  const begun = newEvent(ownerId, { event: "conversation.started", conversationId });
  // Refused twice, and the next one always.
  const refusals = new Map([
    ["conversation.started", 2],
    ["transfer.failed", Number.POSITIVE_INFINITY],
  ]);
  receiver.answer = (received) => {
    const event = fieldOf(received, "event");
    const left = refusals.get(event) ?? 0;
    refusals.set(event, left - 1);
    return new Response("", { status: left > 0 ? 500 : 204 });
  };
  const later = names.slice(1).map((event) => newEvent(ownerId, { event, conversationId }));
  await service.client.batchAcceptEvents({ events: [begun, ...later].toReversed() });
  await ended(service.client, ownerId, 3);
  expect(receiver.received.map((received) => fieldOf(received, "event"))).toEqual([
    ...new Array(3).fill("conversation.started"),
    ...new Array(4).fill("transfer.failed"),
    "conversation.completed",
  ]);
});

describe("an event", () => {
  test("that is repeated, concurrently or later, is delivered once", async () => {
    await using receiver = startReceiver();
    const { ownerId } = await newDestination(service.client, receiver.url);
    const event = newEvent(ownerId);
    await Promise.all(Array.from({ length: 20 }, () => acceptEvent(service.client, event)));
    await ended(service.client, ownerId);
    await acceptEvent(service.client, { ...event, payload: "{}" });
    await acceptEvent(service.client, newEvent(ownerId));
    expect(await ended(service.client, ownerId, 2)).toHaveLength(2);
    expect(receiver.received).toHaveLength(2);
  });

  test("in a batch is stored even if another one is invalid and reported", async () => {
    await using receiver = startReceiver();
    const { ownerId } = await newDestination(service.client, receiver.url);
    const events = [newEvent(ownerId), newEvent(ownerId, { event: "conversation.begun" }), newEvent(ownerId)];
    const { results } = await service.client.batchAcceptEvents({ events });
    expect(results.map(({ refusal }) => refusal)).toEqual([
      undefined,
      expect.stringContaining("event must be one of conversation.completed, conversation.disconnected, "),
      undefined,
    ]);
    expect(await ended(service.client, ownerId, 2)).toHaveLength(2);
  });

  test("in a batch arrives with its own payload to the byte, whatever characters the payloads have", async () => {
    await using receiver = startReceiver();
    const { ownerId } = await newDestination(service.client, receiver.url);
    const payloads = ["null", '"NULL"', "{}", '{"a,b":"\\u001f \\"{}\\" – 🎉"}', "[\t1,\r\n2 ]", "[\u2028]", "{}"];
    const events = payloads.map((payload) => newEvent(ownerId, { payload }));
    await service.client.batchAcceptEvents({ events });
    await ended(service.client, ownerId, events.length);
    const arrived = receiver.received.map((each) => [each.headers["webhook-id"], fieldOf(each, "payload")]);
    const sent = events.map(({ eventId, payload }) => [eventId, payload]);
    expect(arrived.toSorted()).toEqual(sent.toSorted());
  });

  test.each(["", '"\0"', '"\x1f"'])(
    "with the payload %j, which is not a JSON text, is refused alone",
    async (payload) => {
      await using receiver = startReceiver();
      const { ownerId } = await newDestination(service.client, receiver.url);
      const events = [newEvent(ownerId), newEvent(ownerId, { payload })];
      const { results } = await service.client.batchAcceptEvents({ events });
      expect(results.map(({ refusal }) => refusal)).toEqual([undefined, "payload must be JSON text"]);
      expect(await ended(service.client, ownerId)).toHaveLength(1);
      expect(receiver.received).toHaveLength(1);
    },
  );

  test("that is twice in a batch is delivered once", async () => {
    await using receiver = startReceiver();
    const { ownerId } = await newDestination(service.client, receiver.url);
    const event = newEvent(ownerId);
    await service.client.batchAcceptEvents({ events: [event, newEvent(ownerId), event] });
    expect(await ended(service.client, ownerId, 2)).toHaveLength(2);
    expect(receiver.received).toHaveLength(2);
  });

  test("with a malformed trace context is delivered without it", async () => {
    await using receiver = startReceiver();
    const { ownerId } = await newDestination(service.client, receiver.url);
    const traceparent = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    const [good, bad] = [newEvent(ownerId, { traceparent }), newEvent(ownerId, { traceparent: "no trace" })];
    await service.client.batchAcceptEvents({ events: [good, bad] });
    expect(await ended(service.client, ownerId, 2)).toHaveLength(2);
    const rows = await service.sql`select event_id, traceparent from events where owner_id = ${ownerId}`;
    expect(new Map(rows.map((row) => [row.event_id, row.traceparent]))).toEqual(
      new Map([
        [good.eventId, traceparent],
        [bad.eventId, null],
      ]),
    );
  });

  test("for a destination that is being changed waits without using up the connections", async () => {
    await using receiver = startReceiver();
    const answers = Promise.withResolvers<void>();
    receiver.answer = async () => {
      await answers.promise;
      return new Response("");
    };
    const { client, sql } = service;
    const { ownerId, destinationId } = await newDestination(client, receiver.url);
    await acceptEvent(client, newEvent(ownerId));
    await eventually(() => expect(receiver.received).toHaveLength(1));
    const accepting: Promise<unknown>[] = [];
    await sql.begin(async (tx) => {
      expect(await tx`select 1 from jobs where job_id = ${destinationId} for update`).toHaveLength(1);
      // More than there are connections, a few at a time.
      for (let at = 0; at < 60; at++) {
        accepting.push(acceptEvent(client, newEvent(ownerId)));
        if (at % 6 === 5) expect((await client.listDestinations({ ownerId })).destinations).toHaveLength(1);
      }
      expect(await deliveriesOf(client, ownerId)).toHaveLength(1);
    });
    await Promise.all(accepting);
    answers.resolve();
    expect(await ended(client, ownerId, 61)).toHaveLength(61);
  });

  test("of an owner without an enabled destination is not stored", async () => {
    const { ownerId } = await newDestination(service.client, "https://example.com/", { enabled: false });
    await acceptEvent(service.client, newEvent(ownerId));
    const rows = await service.sql`select 1 from events where owner_id = ${ownerId}`;
    expect(rows).toHaveLength(0);
  });
});

describe("one destination", () => {
  test("that never answers does not delay another one", async () => {
    await using receiver = startReceiver();
    await using silent = await startRawServer(() => {});
    const slow = await newDestination(service.client, silent.url);
    const quick = await newDestination(service.client, receiver.url);
    await Promise.all(Array.from({ length: 100 }, () => acceptEvent(service.client, newEvent(slow.ownerId))));
    await eventually(() => expect(silent.connections.length).toBeGreaterThan(10));
    for (let n = 1; n <= 5; n++) {
      await acceptEvent(service.client, newEvent(quick.ownerId));
      await ended(service.client, quick.ownerId, n);
    }
    expect(await deliveriesOf(service.client, slow.ownerId, { status: DELIVERED })).toEqual([]);
    await service.client.deleteDestination(slow);
  });

  test("meets no more than 32 attempts at once", async () => {
    await using receiver = startReceiver();
    let [now, most] = [0, 0];
    receiver.answer = async () => {
      most = Math.max(most, ++now);
      await Bun.sleep(5);
      now--;
      return new Response("ok");
    };
    const { ownerId } = await newDestination(service.client, receiver.url);
    await Promise.all(Array.from({ length: 300 }, () => acceptEvent(service.client, newEvent(ownerId))));
    await eventually(() => expect(receiver.received).toHaveLength(300));
    expect(most).toBeLessThanOrEqual(32);
  });
});

describe("a destination that is disabled, deleted or moved", () => {
  test.each(["disabled", "deleted"])(
    "receives nothing more: %s cancels pending deliveries, and the log shows it",
    async (way) => {
      await using receiver = startReceiver();
      const answers = Promise.withResolvers<void>();
      receiver.answer = async () => {
        await answers.promise;
        return new Response("no", { status: 500 });
      };
      const destination = await newDestination(service.client, receiver.url);
      const { ownerId, destinationId } = destination;
      await Promise.all(Array.from({ length: 60 }, () => acceptEvent(service.client, newEvent(ownerId))));
      await eventually(() => expect(receiver.received).toHaveLength(32));
      if (way === "deleted") await service.client.deleteDestination({ ownerId, destinationId });
      else await service.client.updateDestination({ ownerId, destinationId, enabled: false, requestType: 0 });
      answers.resolve();
      const deliveries = await ended(service.client, ownerId, 60);
      expect(deliveries.map(({ status }) => status)).toEqual(Array(60).fill(CANCELLED));
      await eventually(async () => {
        const logged = await deliveriesOf(service.client, ownerId);
        const made = logged.map(({ attempts }) => attempts.length);
        expect(made.reduce((sum, count) => sum + count)).toBe(receiver.received.length);
        expect(Math.max(...made)).toBe(1);
      });
    },
  );

  test("also has deliveries cancelled that were added while it was being disabled", async () => {
    await using receiver = startReceiver();
    const answers = Promise.withResolvers<void>();
    receiver.answer = async () => {
      await answers.promise;
      return new Response("no", { status: 500 });
    };
    const { ownerId, destinationId } = await newDestination(service.client, receiver.url);
    await Promise.all(Array.from({ length: 40 }, () => acceptEvent(service.client, newEvent(ownerId))));
    await eventually(() => expect(receiver.received).toHaveLength(32));
    // The update that disables it sees none of these deliveries.
    await service.sql`update destinations set enabled = false where destination_id = ${destinationId}`;
    answers.resolve();
    const deliveries = await ended(service.client, ownerId, 40);
    expect(deliveries.map(({ status }) => status)).toEqual(Array(40).fill(CANCELLED));
  });

  test("still shows an attempt that was running, as delivered if it succeeded", async () => {
    await using receiver = startReceiver();
    const answer = Promise.withResolvers<Response>();
    receiver.answer = () => answer.promise;
    const { ownerId, destinationId } = await newDestination(service.client, receiver.url);
    await acceptEvent(service.client, newEvent(ownerId));
    await eventually(() => expect(receiver.received).toHaveLength(1));
    await service.client.deleteDestination({ ownerId, destinationId });
    expect((await deliveriesOf(service.client, ownerId))[0]?.status).toBe(CANCELLED);
    answer.resolve(new Response("done"));
    await eventually(async () => {
      expect(await deliveriesOf(service.client, ownerId)).toMatchObject([
        { status: DELIVERED, attempts: [{ number: 1 }] },
      ]);
    });
  });

  test("to a new URL receives its pending deliveries there", async () => {
    await using receiver = startReceiver();
    receiver.answer = ({ target }) => new Response("", { status: target === "/hook" ? 503 : 200 });
    const slow = await startTestDispatcher({ PARLEY_WEBHOOK_RETRY_MS: "2000" });
    try {
      const { ownerId, destinationId } = await newDestination(slow.client, receiver.url);
      await acceptEvent(slow.client, newEvent(ownerId));
      await eventually(() => expect(receiver.received).not.toBeEmpty());
      const url = `${receiver.url}/new`;
      await slow.client.updateDestination({ ownerId, destinationId, url, requestType: 0 });
      const [delivery] = await ended(slow.client, ownerId);
      expect(delivery?.status).toBe(DELIVERED);
      expect(receiver.received.at(-1)?.target).toBe("/hook/new");
    } finally {
      await slow.stop();
    }
  });
});

test("an owner's deliveries are counted by what came of them, without tests and the events of alerts", async () => {
  await using receiver = startReceiver();
  receiver.answer = ({ fields }) => new Response("", { status: fields[1]?.[1] === "good" ? 200 : 500 });
  const { client } = service;
  const { ownerId, destinationId } = await newDestination(client, receiver.url, {
    events: { names: ["conversation.completed", "alert.opened"] },
  });
  const since = new Date();
  for (const payload of ["good", "bad", "bad"]) await acceptEvent(client, newEvent(ownerId, { payload }));
  await acceptEvent(client, newEvent(ownerId, { event: "alert.opened", conversationId: "", payload: "bad" }));
  await client.sendTestEvent({ ownerId, destinationId, event: "conversation.completed" });
  await ended(client, ownerId, 5);
  expect(await client.countDeliveries({ ownerId, since })).toEqual({ delivered: 1, failed: 2 });
  expect(await client.countDeliveries({ ownerId: newOwner(), since })).toEqual({ delivered: 0, failed: 0 });
});
