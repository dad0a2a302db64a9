import { afterAll, afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { type Connected, person, startTestWhatsApp } from "./kit.ts";

const service = await startTestWhatsApp();
afterEach(() => service.reset());
afterAll(() => service.stop());

const text = (body: string) => ({ type: "text", text: { body } });
const edit = (of: string, message: object) => ({ type: "edit", edit: { original_message_id: of, message } });
const revoke = (of: string) => ({ type: "revoke", revoke: { original_message_id: of } });

let told = 0;
/** Has Meta tell of a person's messages in one callback. */
async function tell(
  number: Connected,
  from: string,
  ...messages: { id?: string; type: string; timestamp?: string }[]
): Promise<void> {
  const all = messages.map((message) => ({ from, id: `wamid.change.${told++}`, ...message }));
  const value = { metadata: { phone_number_id: number.phoneNumberId }, messages: all };
  const body = JSON.stringify({ entry: [{ changes: [{ field: "messages", value }] }] });
  expect((await service.meta.call(number.phoneNumberId, body)).status).toBe(200);
}

/** A message of a person to a new number, whose changes follow. */
async function written(body = "Table for 2") {
  const [number, from, id] = [service.connect(), person(), `wamid.${told++}`];
  await tell(number, from, { id, ...text(body) });
  return { number, from, id };
}

test("a message that is edited before its turn is answered as it became, after several edits as the last one left it", async () => {
  const { number, from, id } = await written();
  await tell(number, from, edit(id, text("Table for 3")));
  await tell(number, from, edit(id, text("Table for 4")));
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Table for 4"]);
  expect(service.turnsOf(number)).toEqual(["Table for 4"]);
});

test("of several edits the last one counts, and a deletion counts, in whatever order their callbacks come", async () => {
  const { number, from, id } = await written();
  await tell(number, from, { timestamp: "1770000020", ...edit(id, text("Table for 4")) });
  await tell(number, from, { timestamp: "1770000010", ...edit(id, text("Table for 3")) });
  const other = { id: `wamid.${told++}`, ...text("My card number is 1234") };
  await tell(number, from, other, { timestamp: "1770000040", ...revoke(other.id) });
  await tell(number, from, { timestamp: "1770000030", ...edit(other.id, text("My card number is 12345")) });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Table for 4"]);
});

test("an edit that comes again does not undo a later one", async () => {
  const { number, from, id } = await written();
  const first = { id: "wamid.first-edit", ...edit(id, text("Table for 3")) };
  await tell(number, from, first);
  await tell(number, from, edit(id, text("Table for 4")));
  await tell(number, from, first);
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Table for 4"]);
});

test("a deleted message is not answered, and the others of its turn are", async () => {
  const { number, from, id } = await written("My card number is 1234");
  await tell(number, from, text("Table for 2"), revoke(id));
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Table for 2"]);
});

test("when every message was deleted there is no turn", async () => {
  const { number, from, id } = await written();
  await tell(number, from, revoke(id));
  service.quiet();
  await eventually(async () => expect(await service.dueInSeconds(number)).toBe(-1));
  expect(service.turnsOf(number)).toEqual([]);
  await tell(number, from, text("Hello"));
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Hello"]);
});

test("a change counts even if its callback overtakes the message's", async () => {
  const [number, from] = [service.connect(), person()];
  await tell(number, from, edit("wamid.late-1", text("Table for 4")), revoke("wamid.late-2"));
  await tell(number, from, { id: "wamid.late-1", ...text("Table for 2") }, { id: "wamid.late-2", ...text("Oops") });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Table for 4"]);
});

test("a caption is edited like a text, and an edit to what cannot be read changes nothing", async () => {
  const [number, from] = [service.connect(), person()];
  const image = (caption: string) => ({ type: "image", image: { id: "1", mime_type: "image/jpeg", caption } });
  await tell(number, from, { id: "wamid.image", ...image("Tabel") });
  await tell(number, from, edit("wamid.image", image("Table")));
  await tell(number, from, edit("wamid.image", { type: "text", text: {} }), { type: "edit" });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: [image: Table]"]);
});

test("a person changes only messages of their own", async () => {
  const { number, from, id } = await written();
  const other = person();
  await tell(number, other, revoke(id), text("Hi"));
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Table for 2"]);
  expect(await service.texts(other, 1)).toEqual(["You said: Hi"]);
});

test("a message that is edited while its turn begins is answered as it became", async () => {
  const [number, from] = [service.connect(), person()];
  service.fakes.conversations.starting = async () => {
    service.fakes.conversations.starting = () => {};
    await tell(number, from, edit("wamid.racing", text("Table for 4")));
  };
  await tell(number, from, { id: "wamid.racing", ...text("Table for 2") });
  service.quiet();
  expect(await service.texts(from, 1)).toEqual(["You said: Table for 4"]);
});

test("a change of a message that a turn has taken changes nothing and gets no answer", async () => {
  const { number, from, id } = await written();
  service.quiet();
  await service.texts(from, 1);
  await tell(number, from, edit(id, text("Table for 4")));
  await tell(number, from, revoke(id));
  await tell(number, from, text("Thanks"));
  service.quiet();
  expect(await service.texts(from, 2)).toEqual(["You said: Table for 2", "You said: Thanks"]);
});
