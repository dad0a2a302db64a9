import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { openHome } from "@parley/dev/stack/home.ts";
import { readStackSettings } from "@parley/dev/stack/settings.ts";
import { startStack } from "@parley/dev/stack/stack.ts";
import { readStackFile } from "@parley/dev/stack/stack-file.ts";
import { ensureDatabase } from "@parley/dev/storage/postgres.ts";
import { Tier } from "@parley/proto/parley/account/v1/account.ts";
import { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import { connectPostgres } from "@parley/shared/db/connect";
import { createClient } from "@parley/shared/rpc/client";
import { socketPath } from "@parley/shared/rpc/socket-path";
import { obtain } from "@parley/testkit/programs/obtain";
import { ownDatabase } from "@parley/tests/kit/stack/stack-database.ts";
import type { Run } from "./run.ts";

/** Parley, as `bun run start` starts it. */
export interface BenchStack {
  url: string;
  /** An enterprise owner. */
  ownerId: string;
  /** The owner's key, with the highest possible rate limit. */
  apiKey: string;
  redisUrl: string;
  /** host:port that takes calls by SIP. */
  sipAddress: string;
  /** The address of a service, unix:path; of a stand-in, host:port. */
  address(name: ProcessName): string;
  /** The current processes with these names. */
  pids(names: readonly ProcessName[]): number[];
  /** Creates another database in the stack's Postgres. @returns its URL, as its owner */
  addDatabase(name: string): Promise<string>;
  /** Collects the planner's statistics, as autovacuum does a minute after tables have begun to grow. */
  analyze(): Promise<void>;
}

export type ProcessName =
  | "gateway"
  | "account"
  | "agent"
  | "prompt"
  | "conversation"
  | "webhook-dispatcher"
  | "voice"
  | "messaging"
  | "knowledge"
  | "postgres"
  | "redis"
  | "model"
  | "speech"
  | "whatsapp";

const RATE_LIMIT_PER_MINUTE = 1_000_000;

/**
 * Starts a whole stack of its own: fresh home, own Postgres and Redis. PARLEY_BINARIES names a folder with the programs of the images
 * to run instead of the sources.
 * @param env what an operator would set
 */
export async function startBenchStack(run: Run, env: Record<string, string> = {}): Promise<BenchStack> {
  await obtain("redis");
  const [port = 0] = await freePorts(1);
  const home = openHome(join(run.folder, "home"));
  const { PARLEY_BINARIES } = process.env;
  const settings = readStackSettings({ PARLEY_HOME: home.path, PORT: String(port), PARLEY_BINARIES });
  const stack = await startStack(home, settings, env, tellOfEnds);
  run.onEnd(() => stack.stop());
  const { url } = await stack.up;

  const find = (name: string) => {
    // Read again, because a process that ended is restarted with another pid.
    const process = readStackFile(home).find((candidate) => candidate.name === name);
    if (!process) throw new Error(`The stack runs without ${name}`);
    return process;
  };
  return {
    url,
    ...(await createEnterpriseOwner(find("account").address)),
    redisUrl: socketPath(find("redis").address) ?? "",
    sipAddress: find("voice").sip_address ?? "",
    address: (name) => find(name).address,
    pids: (names) => names.map((name) => find(name).pid),
    addDatabase: async (name) => {
      await ensureDatabase(ownDatabase(home, "postgres"), name);
      return ownDatabase(home, name);
    },
    analyze: async () => {
      const sql = connectPostgres(ownDatabase(home), { max: 1 });
      await sql`analyze`;
      await sql.end();
    },
  };
}

/** If a process ends during the run, all later figures are worthless. */
function tellOfEnds(line: string): void {
  if (line.includes(" ended (")) console.error(line);
}

async function createEnterpriseOwner(address: string): Promise<{ ownerId: string; apiKey: string }> {
  const accounts = createClient(AccountServiceService, { peer: "account", address });
  try {
    const { owner } = await accounts.createOwner({
      name: "Benchmark",
      email: "bench@localhost.localdomain",
      tier: Tier.TIER_ENTERPRISE,
      rateLimitPerMinute: RATE_LIMIT_PER_MINUTE,
    });
    if (!owner) throw new Error("The account service returned no owner");
    const { apiKey } = await accounts.createKey({
      ownerId: owner.ownerId,
      name: "bench",
      scopes: [],
      expiresAt: undefined,
    });
    return { ownerId: owner.ownerId, apiKey };
  } finally {
    accounts.close();
  }
}
