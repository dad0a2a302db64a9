import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { connectPostgres } from "@parley/shared/db/connect";
import type { Schema } from "@parley/shared/db/provision";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { Api } from "./api.ts";

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

/** What sessions and passwords need of a stack. */
export interface AccountsPlace {
  accounts: Accounts;
  databaseUrls: Record<Schema, string>;
}

/** The token of a session that began without the gateway and its limit of attempts. */
export async function createSession({ accounts, databaseUrls }: AccountsPlace, ownerId: string): Promise<string> {
  await givePassword(databaseUrls, ownerId);
  const { owner } = await accounts.getOwner({ ownerId });
  const { token } = await accounts.signIn({ email: owner?.email ?? "", password: PASSWORD });
  return token;
}

/** An owner who can sign in, with an API key and a session. */
export async function createMember(stack: AccountsPlace & { manage(session: string): Api }) {
  const owner = await createOwner(stack.accounts);
  const token = await createSession(stack, owner.ownerId);
  const { owner: found } = await stack.accounts.getOwner({ ownerId: owner.ownerId });
  return { ...owner, token, email: found?.email ?? "", manage: stack.manage(token) };
}

/** A hash says what it costs to verify. One as the account service makes them takes 30 ms of CPU at each sign-in. */
const CHEAP = { algorithm: "argon2id", memoryCost: 8, timeCost: 1 } as const;

/** Makes PASSWORD the owner's password and ends every session, as the account service does, with a hash that costs little. */
export async function givePassword(databaseUrls: Record<Schema, string>, ownerId: string): Promise<void> {
  const hash = await Bun.password.hash(PASSWORD, CHEAP);
  const sql = connectPostgres(databaseUrls.account, { max: 1, onnotice: () => {} });
  await sql`
    insert into passwords (owner_id, password_hash, updated_at) values (${ownerId}, ${hash}, now())
    on conflict (owner_id) do update set password_hash = excluded.password_hash, updated_at = excluded.updated_at`;
  await sql`delete from sessions where owner_id = ${ownerId}`;
  await sql.end();
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
