import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { ServiceClient } from "@parley/shared/rpc/client";

export type Accounts = ServiceClient<typeof AccountServiceService>;

export interface TestOwner {
  ownerId: string;
  apiKey: string;
  keyId: string;
}

export interface TestKey {
  apiKey: string;
  keyId: string;
}

const NO_TEST_REACHES = 1_000_000;

/** An owner with a key that has every scope. @param rateLimitPerMinute the limit of each of its keys */
export async function createOwner(accounts: Accounts, rateLimitPerMinute = NO_TEST_REACHES): Promise<TestOwner> {
  const email = `${Bun.randomUUIDv7("hex")}@example.com`;
  const { owner } = await accounts.createOwner({
    name: "Test",
    email,
    tier: Tier.TIER_ENTERPRISE,
    rateLimitPerMinute,
  });
  if (!owner) throw new Error("the account service returned no owner");
  return { ownerId: owner.ownerId, ...(await createKey(accounts, owner.ownerId)) };
}

/** Not a number of the document's examples, which generated requests use. */
export const PASSWORD = "the pass phrase of tests";

/** The token of a session that began without the gateway and its limit of attempts. */
export async function createSession(accounts: Accounts, ownerId: string): Promise<string> {
  await accounts.setPassword({ ownerId, password: PASSWORD });
  const { owner } = await accounts.getOwner({ ownerId });
  const { token } = await accounts.signIn({ email: owner?.email ?? "", password: PASSWORD });
  return token;
}

/** Creates a further key. @param scopes empty: all */
export async function createKey(
  accounts: Accounts,
  ownerId: string,
  { scopes = [], expiresAt }: { scopes?: string[]; expiresAt?: Date } = {},
): Promise<TestKey> {
  const { key, apiKey } = await accounts.createKey({ ownerId, name: "Test", scopes, expiresAt });
  return { apiKey, keyId: key?.keyId ?? "" };
}
