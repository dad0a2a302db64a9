import { afterAll, expect, test } from "bun:test";
import { failureOf } from "@parley/testkit/failures";
import { newOwner, startTestAccount } from "./kit.ts";

const account = await startTestAccount({ PARLEY_CALLS_PER_DAY: "20" });
afterAll(() => account.stop());

const policyOf = async (ownerId: string) => (await account.client.getCallPolicy({ ownerId })).policy;

/** Imports numbers from a trunk. */
async function importNumbers(ownerId: string, ...numbers: string[]): Promise<void> {
  const settings = { host: `${ownerId}.example`, allowedAddresses: [] };
  const { carrier } = await account.client.connectCarrier({ ownerId, provider: "SIP", settings });
  for (const mobileNumber of numbers)
    await account.client.importCarrierNumber({ ownerId, carrierId: carrier?.carrierId ?? "", mobileNumber });
}

test("agents may call the countries of the numbers that their owner has imported, as much as the installation allows", async () => {
  const { ownerId } = await newOwner(account.client);
  expect(await policyOf(ownerId)).toEqual({ countries: [], callsPerDay: 20, minutesPerDay: 300 });
  await importNumbers(ownerId, "+14165550601", "+442071838750", "+14165550602");
  // A number that is only added cannot call.
  const mobileNumber = { mobileNumber: "+4930123456", telephonyProvider: "TWILIO" };
  await account.client.addMobileNumber({ ownerId, mobileNumber });
  expect(await policyOf(ownerId)).toEqual({ countries: ["CA", "GB", "US"], callsPerDay: 20, minutesPerDay: 300 });
});

test("the operator changes each part for one owner, and takes the countries back to those of the numbers", async () => {
  const [{ ownerId }, other] = [await newOwner(account.client), await newOwner(account.client)];
  const set = (change: object) => account.client.setCallPolicy({ ownerId, countries: undefined, ...change });
  await set({ countries: { codes: ["DE", "FR"] }, callsPerDay: 1_000 });
  await set({ minutesPerDay: 0 });
  expect(await policyOf(ownerId)).toEqual({ countries: ["DE", "FR"], callsPerDay: 1_000, minutesPerDay: 0 });
  await importNumbers(ownerId, "+14155550603");
  await set({ countries: { codes: [] } });
  expect(await policyOf(ownerId)).toEqual({ countries: ["US"], callsPerDay: 1_000, minutesPerDay: 0 });
  expect(await policyOf(other.ownerId)).toEqual({ countries: [], callsPerDay: 20, minutesPerDay: 300 });
});

test.each([
  [{ countries: { codes: ["US", "Germany"] } }, "countries"],
  [{ callsPerDay: -1 }, "calls_per_day"],
  [{ minutesPerDay: -1 }, "minutes_per_day"],
])("%j is refused, naming %s", async (change, path) => {
  const { ownerId } = await newOwner(account.client);
  const failure = failureOf(account.client.setCallPolicy({ ownerId, countries: undefined, ...change }));
  expect(await failure).toMatchObject({ kind: "invalid", violations: [{ path }] });
});
