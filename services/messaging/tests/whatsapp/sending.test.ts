import { afterAll, afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { echo } from "./fakes.ts";
import { person, startTestWhatsApp } from "./kit.ts";

const service = await startTestWhatsApp();
afterEach(() => service.reset());
afterAll(() => service.stop());

test("a reply that is too long for one message is sent in parts, and is delivered when all of them are", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = () => `${"word ".repeat(1_000)}\n\n${"more ".repeat(500)}`;
  await service.write(number, from, "Tell me everything");
  service.quiet();
  const texts = await service.texts(from, 2);
  expect(texts.every((text) => text.length <= 4_096)).toBeTrue();
  expect(texts.join(" ").match(/word|more/g)).toHaveLength(1_500);
  await eventually(() => expect(service.delivered(number)).toBe("read"));
});

test("a message that WhatsApp refuses temporarily is sent later, and only once", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.failNext({ status: 429, code: 130_429 }, { status: 400, code: 131_056 }, { status: 500 });
  await service.write(number, from, "Hi");
  service.quiet();
  for (const seconds of [10, 20, 40]) {
    await eventually(async () => expect(await service.sendDueInSeconds(number)).toBe(seconds));
    await service.pass(seconds * 1_000);
  }
  expect(await service.texts(from, 1)).toEqual(["You said: Hi"]);
  await eventually(() => expect(service.delivered(number)).toBe("read"));
});

test("a message whose response was lost is not sent again once its status arrives", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.failNext({ status: 500, takes: true });
  await service.write(number, from, "Hi");
  service.quiet();
  await service.texts(from, 1);
  await eventually(() => expect(service.delivered(number)).toBe("read"));
  await service.pass(60_000);
  await service.write(number, from, "And?");
  service.quiet();
  expect(await service.texts(from, 2)).toEqual(["You said: Hi", "You said: And?"]);
});

test("a message that WhatsApp refuses permanently is marked with its code, and later ones are sent", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.failNext({ status: 400, code: 131_047 });
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(() => expect(service.delivered(number)).toBe("failed 131047"));
  await service.write(number, from, "Hello?");
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello?"]);
});

test("a message that is refused for ten minutes is given up and marked", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.failNext(...Array.from({ length: 6 }, () => ({ status: 503 })));
  await service.write(number, from, "Hi");
  service.quiet();
  for (const seconds of [10, 20, 40, 80, 160]) {
    await eventually(async () => expect(await service.sendDueInSeconds(number)).toBe(seconds));
    await service.pass(seconds * 1_000);
  }
  await eventually(async () => expect(await service.sendDueInSeconds(number)).toBe(290));
  await service.pass(290_000);
  await eventually(() => expect(service.delivered(number)).toBe("failed unavailable"));
});

test("a delivery that fails on the person's side is stored with its code", async () => {
  const [number, from] = [service.connect(), person()];
  service.meta.statuses = ["sent", { failed: 131_026 }, "sent"];
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(() => expect(service.delivered(number)).toBe("failed 131026"));
});

test("a disconnected number sends nothing more", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.reply = (turn) => {
    const { carriers } = service.fakes;
    carriers.splice(
      carriers.findIndex(({ carrierId }) => carrierId === number.carrierId),
      1,
    );
    return echo(turn);
  };
  await service.write(number, from, "Hi");
  service.quiet();
  await eventually(() => expect(service.delivered(number)).toBe("failed disconnected"));
  expect(service.meta.sent.filter(({ to }) => to === from)).toEqual([]);
});

test("a deleted owner's messages are deleted and nothing more is sent to its people; another owner's are", async () => {
  const [gone, other, from] = [service.connect(), service.connect(), person()];
  const elsewhere = person();
  await service.write(gone, from, "Hello");
  await service.write(other, elsewhere, "Hello");
  await service.messaging.forgetOwner({ ownerId: gone.ownerId });
  const left = async (ownerId: string) => {
    const [row] = await service.sql`
      select (select count(*) from incoming_messages where owner_id = ${ownerId})::integer as incoming,
        (select count(*) from threads where owner_id = ${ownerId})::integer as threads`;
    return row;
  };
  await eventually(async () => expect(await left(gone.ownerId)).toEqual({ incoming: 0, threads: 0 }));
  expect(await left(other.ownerId)).toEqual({ incoming: 1, threads: 1 });
  service.quiet();
  expect(await service.texts(elsewhere, 1)).toEqual(["You said: Hello"]);
  expect(service.meta.sent.filter(({ to }) => to === from)).toEqual([]);
});
