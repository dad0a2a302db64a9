import { afterAll, describe, expect, test } from "bun:test";
import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import { failureOf } from "@parley/testkit/failures";
import { NO_OWNER, newOwner, startTestAccount } from "./kit.ts";

const { TIER_UNSPECIFIED, TIER_FREE, TIER_PRO, TIER_ENTERPRISE } = Tier;

const account = await startTestAccount();
afterAll(() => account.stop());

describe("CreateOwner", () => {
  test("an owner has the requested fields, and the free tier by default", async () => {
    const { owner } = await account.client.createOwner({
      name: "Zoë & Söhne 🐘",
      email: "zoe@example.com",
      tier: TIER_UNSPECIFIED,
    });
    const now = account.clock.now();
    expect(owner).toEqual({
      ownerId: expect.stringMatching(/^own_[0-9a-z]{26}$/),
      name: "Zoë & Söhne 🐘",
      email: "zoe@example.com",
      tier: TIER_FREE,
      rateLimitPerMinute: 100,
      createdAt: now,
      updatedAt: now,
    });
  });

  test("the pro tier has 500 requests a minute, the enterprise tier its agreed number", async () => {
    const { owner: pro } = await account.client.createOwner({ name: "P", email: "pro@example.com", tier: TIER_PRO });
    expect(pro).toMatchObject({ tier: TIER_PRO, rateLimitPerMinute: 500 });
    const { owner: enterprise } = await account.client.createOwner({
      name: "E",
      email: "enterprise@example.com",
      tier: TIER_ENTERPRISE,
      rateLimitPerMinute: 2_500,
    });
    expect(enterprise).toMatchObject({ tier: TIER_ENTERPRISE, rateLimitPerMinute: 2_500 });
  });

  const good = { name: "Ann", email: "good@example.com", tier: TIER_FREE };
  test.each([
    [{ ...good, name: "" }, "name", "name must be 1 to 100 characters"],
    [{ ...good, name: "  " }, "name", "name must not be blank"],
    [{ ...good, name: "x".repeat(101) }, "name", "name must be 1 to 100 characters"],
    [{ ...good, name: "a\u0000b" }, "name", "name must be printable characters only"],
    [{ ...good, email: "" }, "email", "email must be an email address, such as ann@example.com"],
    [{ ...good, email: "ann" }, "email", "email must be an email address, such as ann@example.com"],
    [{ ...good, email: "a@b c.example" }, "email", "email must be an email address, such as ann@example.com"],
    [{ ...good, email: `${"a".repeat(250)}@b.de` }, "email", "email must be an email address, such as ann@example.com"],
    [{ ...good, tier: 9 as Tier }, "tier", "tier must be one of free, pro, enterprise"],
    [
      { ...good, rateLimitPerMinute: 100 },
      "rate_limit_per_minute",
      "rate_limit_per_minute is for the enterprise tier only. The free tier has 100.",
    ],
    [
      { ...good, tier: TIER_ENTERPRISE },
      "rate_limit_per_minute",
      "rate_limit_per_minute is required for the enterprise tier: a whole number from 1 to 1000000",
    ],
    [
      { ...good, tier: TIER_ENTERPRISE, rateLimitPerMinute: 1_000_001 },
      "rate_limit_per_minute",
      "rate_limit_per_minute must be a whole number from 1 to 1000000",
    ],
  ])("%j is refused, naming %s", async (request, path, message) => {
    expect(await failureOf(account.client.createOwner(request))).toMatchObject({
      kind: "invalid",
      detail: message,
      violations: [{ path, message }],
    });
  });

  test("a name may have 100 characters, counted as code points", async () => {
    const name = "🐘".repeat(100);
    const { owner } = await account.client.createOwner({ name, email: "long@example.com", tier: TIER_FREE });
    expect(owner?.name).toBe(name);
  });

  test("an email belongs to one owner, in any letter case, until that owner is deleted", async () => {
    const request = { name: "Ann", email: "unique@example.com", tier: TIER_FREE };
    const { owner } = await account.client.createOwner(request);
    const again = { ...request, email: "Unique@Example.com" };
    expect(await failureOf(account.client.createOwner(again))).toMatchObject({
      kind: "conflict",
      detail: "email is already in use by another owner",
    });
    await account.client.deleteOwner({ ownerId: owner?.ownerId ?? "" });
    expect((await account.client.createOwner(again)).owner?.email).toBe("Unique@Example.com");
  });

  test("when twenty concurrent requests want one email, one gets it", async () => {
    const outcomes = await Promise.allSettled(
      Array.from({ length: 20 }, () =>
        account.client.createOwner({ name: "Race", email: "race@example.com", tier: TIER_FREE }),
      ),
    );
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused.map((outcome) => outcome.reason.kind)).toEqual(new Array(19).fill("conflict"));
  });
});

describe("GetOwner", () => {
  test("an owner is returned as created", async () => {
    const owner = await newOwner(account.client);
    expect(await account.client.getOwner({ ownerId: owner.ownerId })).toEqual({ owner });
  });

  test.each([NO_OWNER, "own_x", "own_\u0000"])("there is no owner %j", async (ownerId) => {
    expect(await failureOf(account.client.getOwner({ ownerId }))).toMatchObject({
      kind: "not_found",
      detail: "Owner not found",
    });
  });
});

describe("ListOwners", () => {
  test("returns pages from newest to oldest, each owner once and never a deleted one", async () => {
    const first = await newOwner(account.client);
    const gone = await newOwner(account.client);
    const last = await newOwner(account.client);
    await account.client.deleteOwner({ ownerId: gone.ownerId });
    const { owners: all } = await account.client.listOwners({ pageSize: 0, afterOwnerId: "" });
    expect(all.slice(0, 2)).toEqual([last, first]);

    const paged = [];
    for (let afterOwnerId = ""; ; ) {
      const { owners } = await account.client.listOwners({ pageSize: 2, afterOwnerId });
      paged.push(...owners);
      if (owners.length < 2) break;
      afterOwnerId = owners[1]?.ownerId ?? "";
    }
    expect(paged).toEqual(all);
  });

  test.each([
    [{ pageSize: 101, afterOwnerId: "" }, "page_size"],
    [{ pageSize: -1, afterOwnerId: "" }, "page_size"],
    [{ pageSize: 10, afterOwnerId: "nobody" }, "after_owner_id"],
  ])("%j is refused, naming %s", async (request, path) => {
    expect(await failureOf(account.client.listOwners(request))).toMatchObject({
      kind: "invalid",
      violations: [{ path }],
    });
  });
});

describe("UpdateOwner", () => {
  test("a missing field stays, and updated_at moves", async () => {
    const owner = await newOwner(account.client);
    account.clock.advance(1_000);
    const { owner: renamed } = await account.client.updateOwner({ ownerId: owner.ownerId, name: "Bob" });
    expect(renamed).toEqual({ ...owner, name: "Bob", updatedAt: account.clock.now() });
    expect(await account.client.getOwner({ ownerId: owner.ownerId })).toEqual({ owner: renamed });
  });

  test("an agreed limit stays while the tier does", async () => {
    const { ownerId } = await newOwner(account.client);
    const change = async (plan: { tier?: Tier; rateLimitPerMinute?: number }) => {
      const { owner } = await account.client.updateOwner({ ownerId, ...plan });
      return [owner?.tier, owner?.rateLimitPerMinute];
    };
    expect(await change({ tier: TIER_ENTERPRISE, rateLimitPerMinute: 700 })).toEqual([TIER_ENTERPRISE, 700]);
    expect(await change({ tier: TIER_ENTERPRISE })).toEqual([TIER_ENTERPRISE, 700]);
    expect(await change({ rateLimitPerMinute: 800 })).toEqual([TIER_ENTERPRISE, 800]);
    expect(await change({ tier: TIER_PRO })).toEqual([TIER_PRO, 500]);
    expect(await failureOf(change({ tier: TIER_ENTERPRISE }))).toMatchObject({ kind: "invalid" });
    expect(await failureOf(change({ rateLimitPerMinute: 800 }))).toMatchObject({ kind: "invalid" });
    expect(await change({ tier: TIER_UNSPECIFIED })).toEqual([TIER_PRO, 500]);
  });

  test("a blank name is refused", async () => {
    const { ownerId } = await newOwner(account.client);
    expect(await failureOf(account.client.updateOwner({ ownerId, name: " " }))).toMatchObject({ kind: "invalid" });
  });

  test("an unknown owner is not found", async () => {
    expect(await failureOf(account.client.updateOwner({ ownerId: NO_OWNER }))).toMatchObject({ kind: "not_found" });
  });
});

describe("DeleteOwner", () => {
  test("a deleted owner is gone everywhere and cannot be deleted twice", async () => {
    const { ownerId } = await newOwner(account.client);
    await account.client.deleteOwner({ ownerId });
    const { client } = account;
    const attempts = [
      client.getOwner({ ownerId }),
      client.updateOwner({ ownerId, name: "Bob" }),
      client.deleteOwner({ ownerId }),
      client.createKey({ ownerId, name: "", scopes: [], expiresAt: undefined }),
      client.listKeys({ ownerId }),
      client.getSettings({ ownerId }),
      client.updateSettings({ ownerId, retentionDays: 30 }),
      client.listMobileNumbers({ ownerId }),
      client.addMobileNumber({
        ownerId,
        mobileNumber: { mobileNumber: "+14155550123", telephonyProvider: "TWILIO" },
      }),
    ];
    const outcomes = await Promise.allSettled(attempts);
    expect(outcomes.map((outcome) => outcome.status === "rejected" && outcome.reason.detail)).toEqual(
      new Array(attempts.length).fill("Owner not found"),
    );
  });
});
