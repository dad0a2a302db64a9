import { afterAll, afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { person, startTestWhatsApp } from "./kit.ts";

const RETRY_MS = 5 * 60_000;
const HOUR_MS = 60 * 60_000;

const service = await startTestWhatsApp();
afterEach(() => service.reset());
afterAll(() => service.stop());

test("messages to a full owner wait, however long, and are answered when there is room", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.full = true;
  await service.write(number, from, "Hello");
  service.quiet();
  await eventually(async () => expect(await service.dueInSeconds(number)).toBe(RETRY_MS / 1_000));
  await service.pass(HOUR_MS);
  await service.write(number, from, "Still there?");
  service.quiet();
  await eventually(async () => expect(await service.dueInSeconds(number)).toBe(RETRY_MS / 1_000));
  expect(await service.waiting(number)).toBe(2);
  service.fakes.conversations.full = false;
  await service.pass(RETRY_MS);
  expect(await service.texts(from, 1)).toEqual(["You said: Hello\nStill there?"]);
});

test("a turn that finds its owner full waits like its messages, and then has the usual time for failures", async () => {
  const [number, from] = [service.connect(), person()];
  await service.write(number, from, "one");
  service.quiet();
  await service.texts(from, 1);
  service.fakes.conversations.full = true;
  await service.write(number, from, "two");
  service.quiet();
  for (let at = 0; at < 4; at++) {
    await eventually(async () => expect(await service.turnDueInSeconds(number)).toBe(RETRY_MS / 1_000));
    await service.pass(RETRY_MS);
  }
  await eventually(async () => expect(await service.turnDueInSeconds(number)).toBe(RETRY_MS / 1_000));
  service.fakes.conversations.full = false;
  let failures = 1;
  service.fakes.conversations.reply = ({ message }) => {
    if (failures-- > 0) throw new Error("no model");
    return `At last: ${message}`;
  };
  await service.pass(RETRY_MS);
  await eventually(async () => expect(await service.turnDueInSeconds(number)).toBeWithin(1, RETRY_MS / 1_000));
  await service.pass(RETRY_MS);
  expect(await service.texts(from, 2)).toEqual(["You said: one", "At last: two"]);
  expect(service.conversationsOf(number)).toHaveLength(1);
});

test("a full owner's template is refused at once", async () => {
  const { ownerId, agentId } = service.connect();
  service.fakes.conversations.full = true;
  const template = { name: "order_update", language: "en_US", components: [] };
  const request = { ownerId, agentId, toMobileNumber: `+${person()}`, template, idempotency: undefined };
  expect(await serviceErrorOf(service.messaging.sendWhatsAppTemplate(request))).toMatchObject({ kind: "conflict" });
});
