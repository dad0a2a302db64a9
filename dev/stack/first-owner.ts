import { randomBytes } from "node:crypto";
import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { ServiceError } from "@parley/shared/errors";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { stackCredentials } from "../processes/ping.ts";

type Accounts = ServiceClient<typeof AccountServiceService>;

export interface FirstOwner {
  ownerId: string;
  apiKey: string;
  login: Login;
}

export interface Login {
  email: string;
  /** The initial password. */
  password: string;
}

const NAME = "Development";
const EMAIL = "dev@localhost.localdomain";
const PASSWORD_BYTES = 18;
/** A slow machine that starts every process at once takes seconds to connect two of them. */
const PATIENT = { timeoutMs: 60_000 };

/**
 * Returns the owner, key and password for a newcomer: the known ones when the database has the owner, otherwise new
 * ones. A key deleted or deactivated since then stays so, and so does a changed password.
 */
export async function firstOwner(address: string, known: FirstOwner | null): Promise<FirstOwner> {
  const accounts = createClient(AccountServiceService, { peer: "account", address, credentials: stackCredentials() });
  try {
    if (known && (await exists(accounts, known.ownerId))) return known;
    const ownerId = (await findOwner(accounts)) ?? (await createOwner(accounts));
    const { apiKey } = await accounts.createKey({ ownerId, name: NAME, scopes: [], expiresAt: undefined });
    const password = randomBytes(PASSWORD_BYTES).toString("base64url");
    await accounts.setPassword({ ownerId, password });
    return { ownerId, apiKey, login: { email: EMAIL, password } };
  } finally {
    accounts.close();
  }
}

async function exists(accounts: Accounts, ownerId: string): Promise<boolean> {
  try {
    await accounts.getOwner({ ownerId }, PATIENT);
    return true;
  } catch (error) {
    if (error instanceof ServiceError && error.kind === "not_found") return false;
    throw error;
  }
}

/** Finds the owner whose key was lost with dev.env or in a crash before it was written. */
async function findOwner(accounts: Accounts): Promise<string | null> {
  for (let afterOwnerId = ""; ; ) {
    const { owners } = await accounts.listOwners({ pageSize: 100, afterOwnerId }, PATIENT);
    const found = owners.find(({ email }) => email === EMAIL);
    if (found) return found.ownerId;
    const last = owners.at(-1);
    if (!last) return null;
    afterOwnerId = last.ownerId;
  }
}

async function createOwner(accounts: Accounts): Promise<string> {
  const request = { name: NAME, email: EMAIL, tier: Tier.TIER_PRO, rateLimitPerMinute: undefined };
  const { owner } = await accounts.createOwner(request);
  if (!owner) throw new Error("the account service returned no owner");
  return owner.ownerId;
}
