import { afterAll, expect, test } from "bun:test";
import { failureOf } from "@parley/testkit/failures";
import postgres from "postgres";
import { NO_OWNER, newOwner, startTestAccount } from "./kit.ts";

const account = await startTestAccount();
const { ownerId } = await newOwner(account.client);
afterAll(() => account.stop());

const number = (mobileNumber: string, telephonyProvider = "TWILIO") => ({ mobileNumber, telephonyProvider });

test("an owner's numbers are listed from when they are added until they are removed", async () => {
  const [first, second] = [number("+442071838750", "PLIVO"), number("+14155550100")];
  for (const mobileNumber of [first, second]) {
    expect(await account.client.addMobileNumber({ ownerId, mobileNumber })).toEqual({ mobileNumber });
    account.clock.advance(1);
  }
  const other = await newOwner(account.client);
  expect(await account.client.listMobileNumbers({ ownerId })).toEqual({ mobileNumbers: [first, second] });
  expect(await account.client.listMobileNumbers({ ownerId: other.ownerId })).toEqual({ mobileNumbers: [] });

  await account.client.removeMobileNumber({ ownerId, mobileNumber: first.mobileNumber });
  expect(await account.client.listMobileNumbers({ ownerId })).toEqual({ mobileNumbers: [second] });
});

test("an owner has at most 1,000 numbers", async () => {
  const owner = await newOwner(account.client);
  const add = (mobileNumber: string) =>
    account.client.addMobileNumber({ ownerId: owner.ownerId, mobileNumber: number(mobileNumber) });
  await add("+14155550120");
  const sql = postgres(account.database.urls.account, { max: 1, onnotice: () => {} });
  await sql`
    insert into mobile_numbers (owner_id, mobile_number, telephony_provider, created_at)
    select owner_id, '+4420718' || 10000 + n, telephony_provider, created_at
    from mobile_numbers, generate_series(2, 1000) as n where owner_id = ${owner.ownerId}`;
  await sql.end();
  expect(await failureOf(add("+14155550121"))).toMatchObject({
    kind: "conflict",
    detail: "There are 1000 phone numbers already: remove one first",
  });
});

test("an owner has lost the numbers that they removed or that another owner proved, until they have them again, be it on WhatsApp", async () => {
  const { client } = account;
  const [one, two] = [await newOwner(client), await newOwner(client)];
  const [removed, replaced, kept, never] = ["+14155550141", "+14155550142", "+14155550143", "+14155550144"];
  const add = (mobileNumber: string) =>
    client.addMobileNumber({ ownerId: one.ownerId, mobileNumber: number(mobileNumber) });
  const lost = async ({ ownerId }: { ownerId: string }) =>
    (
      await client.findLostNumbers({ ownerId, mobileNumbers: [removed, replaced, kept, never] })
    ).mobileNumbers.toSorted();
  for (const each of [removed, replaced, kept]) await add(each);
  expect(await lost(one)).toEqual([]);
  await client.removeMobileNumber({ ownerId: one.ownerId, mobileNumber: removed });
  await client.proveMobileNumber({ ownerId: two.ownerId, mobileNumber: replaced });
  expect([await lost(one), await lost(two)]).toEqual([[removed, replaced], []]);
  await add(removed);
  await client.removeMobileNumber({ ownerId: two.ownerId, mobileNumber: replaced });
  await add(replaced);
  expect([await lost(one), await lost(two)]).toEqual([[], [replaced]]);
  const sql = postgres(account.database.urls.account, { max: 1, onnotice: () => {} });
  await sql`
    insert into carriers (owner_id, carrier_id, provider, account, settings, sealed, created_at)
    values (${two.ownerId}, 'car_1', 'WHATSAPP', '1', ${sql.json({ mobileNumber: replaced })}, '{}', now())`;
  await sql.end();
  expect(await lost(two)).toEqual([]);
});

test("a number belongs to one owner until it is removed or its owner is deleted", async () => {
  const mobileNumber = number("+14155550111");
  const [one, two, three] = [
    await newOwner(account.client),
    await newOwner(account.client),
    await newOwner(account.client),
  ];
  const add = (owner: { ownerId: string }) => account.client.addMobileNumber({ ownerId: owner.ownerId, mobileNumber });
  await add(one);
  expect(await failureOf(add(one))).toMatchObject({
    kind: "conflict",
    detail: "mobile_number +14155550111 already belongs to this owner",
  });
  expect(await failureOf(add(two))).toMatchObject({
    kind: "conflict",
    detail: "mobile_number +14155550111 belongs to another owner",
  });
  await account.client.removeMobileNumber({ ownerId: one.ownerId, mobileNumber: mobileNumber.mobileNumber });
  await add(two);
  await account.client.deleteOwner({ ownerId: two.ownerId });
  await add(three);
});

test("when several owners add the same number at once, one gets it", async () => {
  const owners = await Promise.all(Array.from({ length: 8 }, () => newOwner(account.client)));
  const outcomes = await Promise.allSettled(
    owners.map((owner) =>
      account.client.addMobileNumber({ ownerId: owner.ownerId, mobileNumber: number("+14155550122") }),
    ),
  );
  const refused = outcomes.filter((outcome) => outcome.status === "rejected");
  expect(refused.map((outcome) => outcome.reason.kind)).toEqual(new Array(7).fill("conflict"));
});

test.each([
  [undefined, "mobile_number"],
  [number(""), "mobile_number"],
  [number("4155550123"), "mobile_number"],
  [number("+1 415 555 0123"), "mobile_number"],
  [number("+1415"), "mobile_number"],
  [number("+99912345678"), "mobile_number"],
  [number("+14155550123\u0000"), "mobile_number"],
  [number("+14155550123", "twilio"), "telephony_provider"],
  [number("+14155550123", ""), "telephony_provider"],
])("%j is refused, naming %s", async (mobileNumber, path) => {
  expect(await failureOf(account.client.addMobileNumber({ ownerId, mobileNumber }))).toMatchObject({
    kind: "invalid",
    violations: [{ path, message: expect.stringContaining(path) }],
  });
});

test("a number that the owner does not have is not found, even if another owner has it", async () => {
  const other = await newOwner(account.client);
  await account.client.addMobileNumber({ ownerId: other.ownerId, mobileNumber: number("+14155550133") });
  for (const mobileNumber of ["+14155550133", "+14155550134"]) {
    expect(await failureOf(account.client.removeMobileNumber({ ownerId, mobileNumber }))).toMatchObject({
      kind: "not_found",
      detail: "Mobile number not found",
    });
  }
});

test("an unknown owner has no numbers", async () => {
  expect(await failureOf(account.client.listMobileNumbers({ ownerId: NO_OWNER }))).toMatchObject({
    detail: "Owner not found",
  });
  expect(
    await failureOf(account.client.removeMobileNumber({ ownerId: NO_OWNER, mobileNumber: "+14155550123" })),
  ).toMatchObject({
    detail: "Owner not found",
  });
});
