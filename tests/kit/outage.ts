import { chmodSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { openDatabase } from "@parley/shared/db/database";
import { eventually } from "@parley/testkit/eventually";
import { ownDatabase, readInstallation } from "./stack/stack-database.ts";
import type { TestStack } from "./stack/test-stack.ts";

/** Kills a stack's own Postgres and keeps it down until told, by a folder that others may write to: Postgres refuses to start on it. */
export async function downPostgres(stack: TestStack): Promise<AsyncDisposable & { up(): Promise<unknown> }> {
  const { postgresFolder } = readInstallation(stack.home);
  const data = join(postgresFolder ?? stack.home.path, "postgres");
  const processes = await processesOf(ownDatabase(stack.home));
  chmodSync(data, 0o777);
  const { back } = stack.kill("postgres");
  const up = () => {
    chmodSync(data, 0o700);
    return back;
  };
  // A killed Postgres's other processes continue until each notices; a busy one can still commit.
  await eventually(() => {
    const left = processes.filter(isRunning);
    if (left.length > 0) throw new Error(`Processes of Postgres are still running: ${left}`);
  });
  return { up, [Symbol.asyncDispose]: async () => void (await up()) };
}

async function processesOf(url: string): Promise<number[]> {
  const admin = openDatabase({ url, max: 1, name: "outage" });
  const rows = await admin<{ pid: number }[]>`select pid from pg_stat_activity`;
  await admin.end();
  return rows.map(({ pid }) => pid);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  // A process that has ended may wait for its parent to collect it.
  const stat = `/proc/${pid}/stat`;
  return !existsSync(stat) || !/\) Z /.test(readFileSync(stat, "utf8"));
}
