import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { ConfigError, readConfig } from "@parley/shared/config";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { channelCredentials, TLS_VARIABLES, tlsFiles } from "@parley/shared/rpc/credentials";
import { str } from "envalid";

export type Environment = Record<string, string | undefined>;
export type AccountClient = ServiceClient<typeof AccountServiceService>;

const VARIABLES = {
  PARLEY_ACCOUNT_ADDRESS: str({ default: "", desc: "host:port of the account service" }),
  PARLEY_HOME: str({ default: ".parley", desc: "the stack's folder" }),
  ...TLS_VARIABLES,
};

/** The stack listens on loopback unless TLS is set up, and this process listens nowhere. */
const NO_LISTENER = "127.0.0.1:0";

/**
 * Calls the account service of the running stack.
 * @throws ConfigError when there is no telling where it is
 * @throws ServiceError what the service refuses
 */
export async function withAccount<T>(env: Environment, work: (account: AccountClient) => Promise<T>): Promise<T> {
  const config = readConfig(env, VARIABLES);
  const account = createClient(AccountServiceService, {
    peer: "account",
    address: config.PARLEY_ACCOUNT_ADDRESS || addressFromStack(config.PARLEY_HOME),
    credentials: channelCredentials(tlsFiles(config, NO_LISTENER)),
  });
  try {
    return await work(account);
  } finally {
    account.close();
  }
}

function addressFromStack(home: string): string {
  const path = resolve(join(home, "stack.json"));
  const start = 'start the stack with "bun run start", or name another with PARLEY_HOME or PARLEY_ACCOUNT_ADDRESS';
  if (!existsSync(path)) throw new ConfigError(`No stack is running here (there is no ${path}): ${start}.`);
  const address = findAddress(readFileSync(path, "utf8"));
  if (!address) throw new ConfigError(`${path} names no account service: ${start}.`);
  return address;
}

function findAddress(stackJson: string): string | undefined {
  try {
    const { processes } = JSON.parse(stackJson) as { processes: { name: string; address: string }[] };
    return processes.find((process) => process.name === "account")?.address;
  } catch {
    return undefined;
  }
}
