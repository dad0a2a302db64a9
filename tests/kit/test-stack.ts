import { readFileSync } from "node:fs";
import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { type Home, openHome } from "@parley/dev/stack/home.ts";
import type { ServiceName, WatchedName } from "@parley/dev/stack/plan.ts";
import { readStackSettings } from "@parley/dev/stack/settings.ts";
import { startStack } from "@parley/dev/stack/stack.ts";
import type { RunningProcess } from "@parley/dev/stack/stack-file.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { roleUrls, type Schema } from "@parley/shared/db/provision";
import { createClient } from "@parley/shared/rpc/client";
import { socketPath } from "@parley/shared/rpc/unix-sockets";
import { TEST_SECRET } from "@parley/shared/testing/database";
import { eventually } from "@parley/shared/testing/eventually";
import { type Api, createApi, createManageApi } from "./api.ts";
import { secretsInLogs } from "./logged-secrets.ts";
import { createDatabase, type GivenDatabase, ownDatabase } from "./stack-database.ts";
import { type Accounts, createOwner, type TestOwner } from "./test-owner.ts";

export type ProcessName = ServiceName | "gateway" | "postgres" | "redis" | "model";
/** A process that there may be several of, such as `agent-2`. */
export type ReplicaName = WatchedName | `${WatchedName}-${number}`;

export interface TestStackSettings {
  /** For its processes, beside what the stack gives them. */
  env?: Record<string, string>;
  /** "cluster": a database in the tests' own Postgres; "embedded": a Postgres of the stack's own, to be killed. */
  postgres?: "cluster" | "embedded";
  /** Of every service and the gateway. */
  replicas?: number;
  /** Starts what stands between the processes and the cluster's database. @returns the address to use instead */
  through?: (databaseUrl: string) => Promise<string>;
}

/** All of Parley as processes, started as `bun run start` does. */
export interface TestStack {
  url: string;
  home: Home;
  /** Two accounts, each with a key for everything and a limit no test reaches. */
  owners: readonly [TestOwner, TestOwner];
  accounts: Accounts;
  databaseUrls: Record<Schema, string>;
  api(key: string): Api;
  /** The management API as the session of that token, "" for none, sees it. */
  manage(token: string): Api;
  /** host:port or unix:path. */
  address(name: ProcessName): string;
  pid(name: ProcessName): number;
  /** What the process tells Prometheus. */
  metrics(name: ReplicaName): Promise<string>;
  pids(): Record<string, number>;
  /** Ends a process, which the stack then starts again; `back` settles when the new one answers: with how the old one ended. */
  kill(name: ProcessName | ReplicaName, signal?: NodeJS.Signals): { back: Promise<string> };
  stop(): Promise<void>;
}

const BACK_WITHIN_MS = 60_000;

/** Boots a stack in a home of its own; takes about three seconds, so a test file shares one. */
export async function startTestStack({
  env = {},
  postgres = "cluster",
  replicas = 1,
  through = async (url) => url,
}: TestStackSettings = {}): Promise<TestStack> {
  const folder = await mkdtemp(join(tmpdir(), "parley-e2e-"));
  // The user that Postgres runs as must be able to enter it.
  await chmod(folder, 0o755);
  const home = openHome(join(folder, "home"));
  const given: GivenDatabase | null = postgres === "cluster" ? await createDatabase() : null;
  const [port = 0] = await freePorts(1);
  const own = {
    PORT: String(port),
    PARLEY_ENCRYPTION_KEY: TEST_SECRET,
    PARLEY_REPLICAS: String(replicas),
    ...(given && { DATABASE_URL: await through(given.url) }),
  };
  const said: string[] = [];
  const stack = await startStack(
    home,
    readStackSettings(own),
    { ...EVERYTHING_LOGGED, ...LOCAL_MODELS, ...env },
    (line) => said.push(line),
  );
  const remove = async () => {
    await stack.stop();
    await given?.drop();
    const leaks = await secretsInLogs(home);
    await rm(folder, { recursive: true });
    if (leaks.length > 0) throw new Error(`Secrets were logged:\n${leaks.join("\n")}`);
  };
  const processes = () => JSON.parse(readFileSync(home.file("stack.json"), "utf8")).processes as RunningProcess[];
  const find = (name: ProcessName | ReplicaName) => {
    const found = processes().find((process) => process.name === name);
    if (!found) throw new Error(`no process ${name} in stack.json`);
    return found;
  };
  try {
    const { url } = await stack.up;
    const address = find("account").address;
    const accounts = createClient(AccountServiceService, { peer: "account", address });
    return {
      url,
      home,
      accounts,
      owners: [await createOwner(accounts), await createOwner(accounts)],
      databaseUrls: roleUrls(given?.url ?? ownDatabase(home), TEST_SECRET),
      api: (key) => createApi(url, key),
      manage: (token) => createManageApi(url, token),
      address: (name) => find(name).address,
      pid: (name) => find(name).pid,
      metrics: async (name) => {
        const unix = socketPath(find(name).admin_address ?? "") ?? "";
        return (await fetch("http://localhost/metrics", { unix })).text();
      },
      pids: () => Object.fromEntries(processes().map(({ name, pid }) => [name, pid])),
      kill: (name, signal = "SIGKILL") => {
        const before = said.length;
        process.kill(find(name).pid, signal);
        const isBack = () => {
          const since = said.slice(before);
          const how = since.find((line) => line.startsWith(`${name} ended `))?.match(/\((.*?)\)/)?.[1];
          if (how === undefined || !since.includes(`${name} is back`)) throw new Error(`${name} is not back: ${since}`);
          return how;
        };
        return { back: eventually(isBack, BACK_WITHIN_MS) };
      },
      stop: async () => {
        accounts.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** So that a secret which only a debug line would show is found too, at the stack's end. */
const EVERYTHING_LOGGED = { PARLEY_LOG_LEVEL: "debug" };

/** Models of tests listen on loopback, which is out of bounds for agents unless the operator says otherwise. */
const LOCAL_MODELS = { PARLEY_ALLOWED_PRIVATE_HOSTS: "127.0.0.1" };
