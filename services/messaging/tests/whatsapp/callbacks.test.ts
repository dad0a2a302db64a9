import { afterAll, afterEach, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { newUuid } from "@parley/shared/ids";
import { eventually } from "@parley/testkit/eventually";
import { serviceErrorOf } from "@parley/testkit/failures";
import { type Connected, MESSAGES_PER_CONTACT, MESSAGES_PER_DAY, person, startTestWhatsApp } from "./kit.ts";

const service = await startTestWhatsApp();
afterEach(() => service.reset());
afterAll(() => service.stop());

test("a message that WhatsApp sends twice, or in two callbacks at once, is processed once", async () => {
  const [number, from] = [service.connect(), person()];
  const twice = () => service.write(number, from, "Once", "wamid.once");
  await Promise.all([twice(), twice(), twice()]);
  service.quiet();
  await service.texts(from, 1);
  await twice();
  service.quiet();
  await service.write(number, from, "Next");
  service.quiet();
  expect(await service.texts(from, 2)).toEqual(["You said: Once", "You said: Next"]);
});

test("a failure that comes in one callback with an earlier status is stored", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.statuses = [];
  await service.write(number, from, "Hi");
  service.quiet();
  await service.texts(from, 1);
  const id = service.meta.sent.find(({ to }) => to === from)?.wamid;
  const statuses = [
    { id, status: "failed", errors: [{ code: 131_026 }] },
    { id, status: "sent" },
  ];
  // The message is known by WhatsApp's id once that is stored, which may be after it has been sent.
  await eventually(async () => {
    expect((await callBack(number, [{ number, statuses }])).status).toBe(200);
    expect(service.delivered(number)).toBe("failed 131026");
  });
});

test("a callback for thousands of numbers has them looked up once, and the owner's others get their messages", async () => {
  const [number, from] = [service.connect(), person()];
  const second = service.connect({ ownerId: number.ownerId });
  const before = service.fakes.carrierLists;
  const strangers = Array.from({ length: 300 }, (_, at) => ({
    number: { phoneNumberId: `9${at}` },
    statuses: [{ id: `wamid.${at}`, status: "sent" }],
  }));
  const messages = [{ from, id: "wamid.second", type: "text", text: { body: "Hi" } }];
  expect((await callBack(number, [...strangers, { number: second, messages }])).status).toBe(200);
  expect(service.fakes.carrierLists - before).toBe(1);
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hi"]);
});

test("an owner whose callbacks bring too much at once has some refused, and another owner's message is taken", async () => {
  const [flooding, other, from] = [service.connect(), service.connect(), person()];
  const reports = (round: number) => {
    const statuses = Array.from({ length: 2_000 }, (_, at) => ({ id: `wamid.${round}.${at}`, status: "sent" }));
    const value = { metadata: { phone_number_id: flooding.phoneNumberId }, statuses };
    const body = Buffer.from(JSON.stringify({ entry: [{ changes: [{ field: "messages", value }] }] }));
    const signature = `sha256=${createHmac("sha256", flooding.appSecret).update(body).digest("hex")}`;
    return service.messaging.handleWhatsAppCallback({ carrierId: flooding.carrierId, body, signature });
  };
  const asked = Promise.allSettled(Array.from({ length: 12 }, (_, round) => reports(round)));
  await service.write(other, from, "Hello");
  const answers = await asked;
  const refused = answers
    .filter(({ status }) => status === "rejected")
    .map((answer) => (answer as PromiseRejectedResult).reason);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThan(12);
  const detail = "This account has too many WhatsApp messages and statuses at once. Try again.";
  for (const error of refused) expect(error).toMatchObject({ kind: "rate_limited", detail });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello"]);
});

test("an owner that signs callbacks about ever more people has so many messages a day, and another owner as many", async () => {
  const [forging, other] = [service.connect(), service.connect()];
  const half = () =>
    Array.from({ length: MESSAGES_PER_DAY / 2 }, () => {
      const from = person();
      return { from, id: `wamid.${from}`, type: "text", text: { body: "Hi" } };
    });
  const first = half();
  const answers = [first, first, half(), [...first, ...half()], half()].map(
    (messages) => () => tell(forging, messages),
  );
  const kinds: string[] = [];
  for (const answer of answers) kinds.push(await answer());
  // A message that comes again is no other message.
  expect(kinds).toEqual(["", "", "", "rate_limited", "rate_limited"]);
  expect(await tell(other, half())).toBe("");
  const [{ stored = 0 } = {}] = await service.sql<{ stored: number }[]>`
    select count(*)::integer as stored from incoming_messages where owner_id = ${forging.ownerId}`;
  expect(stored).toBe(MESSAGES_PER_DAY);
  const sending = service.messaging.sendWhatsAppTemplate({
    ownerId: forging.ownerId,
    agentId: forging.agentId,
    toMobileNumber: `+${person()}`,
    template: { name: "hello", language: "en", components: [] },
    idempotency: undefined,
  });
  expect(await serviceErrorOf(sending)).toMatchObject({ kind: "rate_limited" });
  service.clock.advance(24 * 60 * 60_000);
  expect(await tell(forging, half())).toBe("");
});

/** Has Meta tell of messages to a number. @returns the kind of the refusal, or "" */
async function tell(number: Connected, messages: readonly object[]): Promise<string> {
  return (await callBack(number, [{ number, messages }])).text();
}

/** Has Meta call back with what concerns these numbers. */
function callBack(
  { phoneNumberId }: Connected,
  news: readonly { number: { phoneNumberId: string }; [field: string]: unknown }[],
) {
  const changes = news.map(({ number, ...value }) => {
    return { field: "messages", value: { metadata: { phone_number_id: number.phoneNumberId }, ...value } };
  });
  return service.meta.call(phoneNumberId, JSON.stringify({ entry: [{ changes }] }));
}

test("a person who floods a number has messages dropped, and another person's message is taken at once", async () => {
  const [number, flooding, other] = [service.connect(), person(), person()];
  const flood = Array.from({ length: 450 }, (_, at) => {
    return { from: flooding, id: `wamid.flood.${at}`, type: "text", text: { body: "x" } };
  });
  for (const part of [flood.slice(0, 225), flood.slice(225)]) expect(await tell(number, part)).toBe("");
  expect(await tell(number, [{ from: other, id: "wamid.other", type: "text", text: { body: "Hi" } }])).toBe("");
  expect(await storedOf(number, flooding)).toBeLessThan(150);
  expect(await storedOf(number, other)).toBe(1);
});

test("a person may write so many messages on a day, and nobody else has fewer for it", async () => {
  const [number, keen, other] = [service.connect(), person(), person()];
  const messages = (from: string, count: number) =>
    Array.from({ length: count }, () => ({ from, id: `wamid.${newUuid()}`, type: "text", text: { body: "Hi" } }));
  expect(await tell(number, messages(keen, MESSAGES_PER_CONTACT))).toBe("");
  const mixed = [...messages(keen, 1), ...messages(other, 1)];
  expect(await tell(number, mixed)).toBe("");
  expect(await tell(number, mixed)).toBe("");
  expect([await storedOf(number, keen), await storedOf(number, other)]).toEqual([MESSAGES_PER_CONTACT, 1]);
  service.clock.advance(24 * 60 * 60_000);
  expect(await tell(number, messages(keen, 1))).toBe("");
  expect(await storedOf(number, keen)).toBe(MESSAGES_PER_CONTACT + 1);
});

/** How many messages of a person to a number are stored. */
async function storedOf({ ownerId }: Connected, contact: string): Promise<number> {
  const [{ stored = 0 } = {}] = await service.sql<{ stored: number }[]>`
    select count(*)::integer as stored from incoming_messages where owner_id = ${ownerId} and contact = ${contact}`;
  return stored;
}
