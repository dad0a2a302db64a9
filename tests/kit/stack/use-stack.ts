import type { Home } from "@parley/dev/stack/home.ts";
import { SERVICES, type StandInName, type WatchedName } from "@parley/dev/stack/plan.ts";
import { type RunningProcess, readStackFile } from "@parley/dev/stack/stack-file.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { Schema } from "@parley/shared/db/provision";
import { createClient } from "@parley/shared/rpc/client";
import { socketPath } from "@parley/shared/rpc/socket-path";
import { type Api, createApi, createManageApi } from "../api.ts";
import { type Accounts, createOwner, type TestOwner } from "../test-owner.ts";

/** Every process that serves its health and metrics. */
export const WATCHED: readonly WatchedName[] = [...SERVICES.map(({ name }) => name), "gateway"];

export type ProcessName = WatchedName | StandInName | "postgres" | "redis";
/** A process with replicas, such as `agent-2`. */
export type ReplicaName = WatchedName | `${WatchedName}-${number}`;

/** Where a stack is. */
export interface StackPlace {
  url: string;
  home: Home;
  databaseUrls: Record<Schema, string>;
}

/** All of Parley as processes, started as `bun run start` does. */
export interface RunningStack extends StackPlace {
  /** Two owners, each with a key that has every scope and a rate limit that no test reaches. */
  owners: readonly [TestOwner, TestOwner];
  accounts: Accounts;
  api(key: string): Api;
  /** The management API, called with the session of that token; "" for none. */
  manage(token: string): Api;
  /** host:port or unix:path. */
  address(name: ProcessName): string;
  /** The process's metrics in Prometheus' format. */
  metrics(name: ReplicaName): Promise<string>;
  pids(): Record<string, number>;
  stop(): Promise<void>;
}

/**
 * Creates two owners on a running stack, and clients for it.
 * @param from the client address that requests name; absent: none
 */
export async function useStack({ url, home, databaseUrls }: StackPlace, from?: string): Promise<RunningStack> {
  const address = (name: ProcessName) => findProcess(home, name).address;
  const accounts = createClient(AccountServiceService, { peer: "account", address: address("account") });
  return {
    url,
    home,
    databaseUrls,
    accounts,
    owners: [await createOwner(accounts), await createOwner(accounts)],
    api: (key) => createApi(url, key, from),
    manage: (token) => createManageApi(url, token, from),
    address,
    metrics: async (name) => {
      const unix = socketPath(findProcess(home, name).admin_address ?? "") ?? "";
      return (await fetch("http://localhost/metrics", { unix })).text();
    },
    pids: () => Object.fromEntries(readStackFile(home).map(({ name, pid }) => [name, pid])),
    stop: async () => accounts.close(),
  };
}

/** Finds a process by its name in stack.json. @throws if there is none */
export function findProcess(home: Home, name: ProcessName | ReplicaName): RunningProcess {
  const found = readStackFile(home).find((process) => process.name === name);
  if (!found) throw new Error(`no process ${name} in stack.json`);
  return found;
}
