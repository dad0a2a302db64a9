import { afterAll, expect, test } from "bun:test";
import { createPace, type Pace } from "@parley/shared/shares/pace";
import { eventually } from "@parley/testkit/eventually";
import {
  acceptEvent,
  DELIVERED,
  deliveriesOf,
  ended,
  newDestination,
  newEvent,
  PENDING,
  startTestDispatcher,
} from "./kit.ts";
import { startReceiver } from "./receiver.ts";

/** Attempts that wait for the pace, until the test lets them go on. */
const held: { ownerId: string; goOn(): void }[] = [];
const costly: Pace = {
  take: (ownerId, _, gone) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    gone.addEventListener("abort", () => resolve());
    held.push({ ownerId, goOn: resolve });
    return promise;
  },
};

// The lanes last for the whole test.
const service = await startTestDispatcher({ PARLEY_WEBHOOK_TURN_MS: "3600000" }, { costly });
afterAll(() => service.stop());

const heldOf = (ownerId: string) => held.filter((each) => each.ownerId === ownerId);

test("after a failed attempt the next waits for its owner's pace, until one succeeds, and other destinations do not", async () => {
  await using failing = startReceiver();
  await using working = startReceiver();
  failing.answer = () => new Response("", { status: failing.received.length < 3 ? 500 : 200 });
  const { ownerId } = await newDestination(service.client, failing.url);
  await newDestination(service.client, working.url, { ownerId });
  await acceptEvent(service.client, newEvent(ownerId));
  await eventually(() => expect(heldOf(ownerId)).toHaveLength(1));
  for (let more = 0; more < 4; more++) await acceptEvent(service.client, newEvent(ownerId));
  await eventually(() => expect(working.received).toHaveLength(5));
  expect(failing.received).toHaveLength(1);
  // The others have not begun.
  expect(heldOf(ownerId)).toHaveLength(1);
  for (const made of [1, 2]) {
    await eventually(() => expect(heldOf(ownerId).length).toBeGreaterThanOrEqual(made));
    heldOf(ownerId)[made - 1]?.goOn();
    await eventually(() => expect(failing.received).toHaveLength(made + 1));
  }
  await eventually(async () => {
    for (const { goOn } of heldOf(ownerId)) goOn();
    const deliveries = await deliveriesOf(service.client, ownerId);
    expect(deliveries.map(({ status }) => status)).toEqual(Array(10).fill(DELIVERED));
  });
});

test("after a long response the next attempt waits too, and after a short one it does not", async () => {
  await using receiver = startReceiver();
  const { promise: hung, resolve: answer } = Promise.withResolvers<Response>();
  const bodies = ["x".repeat(1024 * 1024), "x".repeat(5_000), "ok"];
  // The first keeps the lane, which would forget the others' responses.
  receiver.answer = () => (receiver.received.length === 1 ? hung : new Response(bodies[receiver.received.length - 2]));
  const { ownerId } = await newDestination(service.client, receiver.url);
  const deliver = async (delivered: number) => {
    await acceptEvent(service.client, newEvent(ownerId));
    await eventually(async () =>
      expect(await deliveriesOf(service.client, ownerId, { status: DELIVERED })).toHaveLength(delivered),
    );
  };
  await acceptEvent(service.client, newEvent(ownerId));
  await eventually(() => expect(receiver.received).toHaveLength(1));
  await deliver(1);
  const second = deliver(2);
  await eventually(() => expect(heldOf(ownerId)).toHaveLength(1));
  expect(receiver.received).toHaveLength(2);
  heldOf(ownerId)[0]?.goOn();
  await second;
  await deliver(3);
  expect(heldOf(ownerId)).toHaveLength(1);
  answer(new Response("ok"));
  await ended(service.client, ownerId, 4);
});

test("a stopping process does not make the attempts that wait for the pace", async () => {
  await using receiver = startReceiver();
  receiver.answer = () => new Response("", { status: 500 });
  // The third attempt of the owner would wait for more than an hour.
  const stopping = await startTestDispatcher({}, { costly: createPace({ perSecond: 1 / 4_000, atOnce: 0 }) });
  const { ownerId } = await newDestination(stopping.client, receiver.url);
  await acceptEvent(stopping.client, newEvent(ownerId));
  await eventually(() => expect(receiver.received).toHaveLength(2));
  expect(await deliveriesOf(stopping.client, ownerId)).toMatchObject([{ status: PENDING }]);
  await stopping.stop();
  expect(receiver.received).toHaveLength(2);
});
