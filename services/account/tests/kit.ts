import { createHash } from "node:crypto";
import type { Owner } from "@parley/proto/parley/account/v1/account.ts";
import { AccountServiceService, CreateKeyRequest } from "@parley/proto/parley/account/v1/account_service.ts";
import { silentLogger } from "@parley/shared/log";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { type FakeClock, fakeClock } from "@parley/testkit/clock";
import { createTestDatabase, FEW_CONNECTIONS, TEST_SECRET, type TestDatabase } from "@parley/testkit/database";
import { readAccountConfig } from "../src/config.ts";
import { startAccount } from "../src/service.ts";

export type AccountClient = ServiceClient<typeof AccountServiceService>;

const NOWHERE = "127.0.0.1:1";

export interface TestAccount {
  database: TestDatabase;
  client: AccountClient;
  clock: FakeClock;
  stop(): Promise<void>;
}

/** The service on a port and a database of its own, its clock standing at the start of 2026. */
export async function startTestAccount(env: Record<string, string> = {}): Promise<TestAccount> {
  const database = await createTestDatabase();
  const clock = fakeClock();
  const service = await startAccountProcess(database, clock, { env });
  return {
    ...service,
    database,
    clock,
    stop: async () => {
      await service.stop();
      await database.drop();
    },
  };
}

interface AccountProcess {
  conversationAddress?: string;
  /** Further variables. */
  env?: Record<string, string>;
}

/** One more service on the same database. */
export async function startAccountProcess(
  database: TestDatabase,
  clock: FakeClock,
  { conversationAddress = NOWHERE, env = {} }: AccountProcess = {},
): Promise<{ client: AccountClient; stop(): Promise<void> }> {
  const config = readAccountConfig({
    DATABASE_URL: database.urls.account,
    ...FEW_CONNECTIONS,
    PARLEY_CONVERSATION_ADDRESS: conversationAddress,
    PARLEY_VOICE_ADDRESS: NOWHERE,
    PARLEY_MESSAGING_ADDRESS: NOWHERE,
    PARLEY_AGENT_ADDRESS: NOWHERE,
    PARLEY_PROMPT_ADDRESS: NOWHERE,
    PARLEY_KNOWLEDGE_ADDRESS: NOWHERE,
    PARLEY_WEBHOOK_ADDRESS: NOWHERE,
    PARLEY_ENCRYPTION_KEY: TEST_SECRET,
    ...env,
  });
  const running = await startAccount(config, silentLogger, clock);
  const client = createClient(AccountServiceService, { peer: "account", address: running.address });
  return {
    client,
    stop: async () => {
      client.close();
      await running.stop();
    },
  };
}

let owners = 0;

export async function newOwner(client: AccountClient): Promise<Owner> {
  const { owner } = await client.createOwner({ name: "Ann", email: `ann${owners++}@example.com`, tier: 0 });
  if (!owner) throw new Error("no owner");
  return owner;
}

export async function newKey(
  client: AccountClient,
  ownerId: string,
  request: Partial<CreateKeyRequest> = {},
): Promise<{ keyId: string; apiKey: string }> {
  const { key, apiKey } = await client.createKey(CreateKeyRequest.fromPartial({ ...request, ownerId }));
  if (!key) throw new Error("no key");
  return { keyId: key.keyId, apiKey };
}

export function digestOf(apiKey: string): Buffer {
  return createHash("sha256").update(apiKey).digest();
}

/** Ids of the right form that name nothing. */
export const NO_OWNER = "own_00000000000000000000000000";
export const NO_KEY = "key_00000000000000000000000000";
