import { afterAll, expect, test } from "bun:test";
import { failureOf } from "@parley/testkit/failures";
import { NO_OWNER, newOwner, startTestAccount } from "./kit.ts";

const account = await startTestAccount();
const TIMEZONE_RULE = "timezone must be an IANA time zone, such as Europe/Berlin";
afterAll(() => account.stop());

test("conversations are kept for 90 days by default", async () => {
  const { ownerId } = await newOwner(account.client);
  const other = await newOwner(account.client);
  const settings = async (id: string) => (await account.client.getSettings({ ownerId: id })).settings?.retentionDays;
  expect(await settings(ownerId)).toBe(90);
  for (const retentionDays of [1, 3650, 30]) {
    expect(await account.client.updateSettings({ ownerId, retentionDays })).toEqual({ settings: { retentionDays } });
    expect(await settings(ownerId)).toBe(retentionDays);
  }
  expect(await account.client.updateSettings({ ownerId })).toEqual({ settings: { retentionDays: 30 } });
  expect(await settings(other.ownerId)).toBe(90);
});

test.each([0, -1, 3651])("%d days are refused", async (retentionDays) => {
  const { ownerId } = await newOwner(account.client);
  expect(await failureOf(account.client.updateSettings({ ownerId, retentionDays }))).toMatchObject({
    kind: "invalid",
    detail: "retention_days must be from 1 to 3650",
  });
});

test("an owner's time zone is one of the IANA names, may be cleared, and leaves the retention as it is", async () => {
  const { ownerId } = await newOwner(account.client);
  const set = (timezone: string) => account.client.updateSettings({ ownerId, timezone });
  expect(await set("Europe/Berlin")).toEqual({ settings: { retentionDays: 90, timezone: "Europe/Berlin" } });
  expect(await failureOf(set("+02:00"))).toMatchObject({ kind: "invalid", detail: TIMEZONE_RULE });
  await account.client.updateSettings({ ownerId, retentionDays: 30 });
  expect(await account.client.getSettings({ ownerId })).toEqual({
    settings: { retentionDays: 30, timezone: "Europe/Berlin" },
  });
  expect(await set("")).toEqual({ settings: { retentionDays: 30, timezone: undefined } });
});

test("an unknown owner has no settings", async () => {
  expect(await failureOf(account.client.getSettings({ ownerId: NO_OWNER }))).toMatchObject({
    detail: "Owner not found",
  });
  expect(await failureOf(account.client.updateSettings({ ownerId: NO_OWNER, retentionDays: 5 }))).toMatchObject({
    detail: "Owner not found",
  });
});
