import { parseArgs } from "node:util";
import { openDatabase } from "@parley/shared/db/database";
import { eventually } from "@parley/testkit/eventually";
import { count, table } from "../figures.ts";
import type { Run } from "../run.ts";
import { type Case, countRows, listCases } from "./cases.ts";
import { startDatabase } from "./database.ts";
import { callOnce, type Measured, measureWarm, percentile } from "./measure.ts";
import { type SeededOwner, seedOwners } from "./seed.ts";
import { startListService } from "./service.ts";

const SIZES = [10_000, 100_000, 1_000_000];
/** Fixed, so that a kept seed is valid in later runs. */
const END = new Date("2026-06-30T12:00:00Z");
/** For larger owners, reading every message for each search would take longer than everything else. */
const SEARCH_COUNTED_MAX = 10_000;
const PREPARED_WITHIN_MS = 3_600_000;

/**
 * Measures lists of owners with few and with many conversations, ten messages each, through the service's port.
 * `--size N` seeds the largest owner with N conversations. `--data FOLDER` keeps and reuses the seeded database.
 * `--cases REGEX` selects lists by name.
 */
export async function benchLists(run: Run): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { size: { type: "string" }, data: { type: "string" }, cases: { type: "string", default: "" } },
  });
  const largest = Number(values.size ?? SIZES.at(-1));
  if (!Number.isInteger(largest) || largest < 1) throw new Error("--size must be a number of conversations");
  const owners = [...SIZES.filter((size) => size < largest), largest].map((conversations) => ({
    ownerId: `own_${conversations}`,
    conversations,
  }));
  const database = await startDatabase(run, values.data, "conversation");
  // Seeding takes longer than the service's statement timeout.
  const db = openDatabase({ url: `${database.url}?statement_timeout=0`, name: "bench", max: 4 });
  run.onEnd(() => db.end({ timeout: 1 }));
  const preparing = await startListService(run, database.url);
  const missing: SeededOwner[] = [];
  for (const owner of owners) {
    const [row] = await db`select 1 from conversations where owner_id = ${owner.ownerId} limit 1`;
    if (!row) missing.push(owner);
  }
  await preparing.stop();
  if (missing.length > 0) {
    console.log("Seeding");
    // The seeded conversations have fixed dates, so retention must keep them all.
    for (const { ownerId } of missing) {
      await db`
        insert into owner_settings (owner_id, retention_days, revision) values (${ownerId}, 3650, 1)
        on conflict (owner_id) do nothing`;
    }
    await seedOwners(db, missing, END);
  }
  if (!(await isPrepared(db))) {
    // Also when an earlier run ended before all was counted and indexed.
    console.log("Counting and indexing");
    const indexing = await startListService(run, database.url);
    await eventually(async () => {
      if (!(await isPrepared(db))) throw new Error("The conversation service did not finish counting or indexing");
    }, PREPARED_WITHIN_MS);
    await indexing.stop();
    await db`vacuum analyze`;
  }

  const wanted = new RegExp(values.cases);
  const cases = listCases(END).filter(({ name }) => wanted.test(name));
  await database.restart("as it comes");
  const service = await startListService(run, database.url);
  const cold: number[] = [];
  for (const asked of cases) cold.push((await callOnce(service.client, owners.at(-1)?.ownerId ?? "", asked)).ms);
  const rows = [header(owners)];
  for (const [at, asked] of cases.entries()) {
    const measured = await measureWarm(service.client, owners, asked);
    await refuseWrong(db, owners, asked, measured);
    rows.push(line(asked, measured, cold[at] ?? Number.NaN));
  }
  console.log(
    `\nFirst pages of 10, milliseconds (p50 of each owner; ratio of the largest to the smallest)\n${table(rows)}`,
  );
  await service.stop();
}

/**
 * Whether the service has folded all counts and indexed all conversations. Some changes remain: seeded conversations that are open are
 * silent, so the service ends them, and it folds changes some hundred at a time.
 */
async function isPrepared(db: ReturnType<typeof openDatabase>): Promise<boolean> {
  const [waiting] = await db`
    select 1 from jobs where queue in ('fold-conversation-counts', 'index-conversations') limit 1`;
  return waiting === undefined;
}

/** A wrong total would be worthless, however fast. */
async function refuseWrong(
  db: ReturnType<typeof openDatabase>,
  owners: readonly SeededOwner[],
  asked: Case,
  measured: readonly Measured[],
): Promise<void> {
  for (const [at, { ownerId, conversations }] of owners.entries()) {
    if (asked.filter.search && conversations > SEARCH_COUNTED_MAX) continue;
    const exact = await countRows(db, ownerId, asked);
    if (measured[at]?.total !== exact) {
      throw new Error(`${asked.name} of ${ownerId}: total ${measured[at]?.total}, but there are ${exact}`);
    }
  }
}

function header(owners: readonly SeededOwner[]): string[] {
  return ["", "total", ...owners.map((owner) => count(owner.conversations)), "ratio", "p99", "first call"];
}

function line(asked: Case, measured: readonly Measured[], coldMs: number): string[] {
  const p50 = measured.map(({ ms }) => percentile(ms, 50));
  const largest = measured.at(-1);
  const ratio = (p50.at(-1) ?? Number.NaN) / (p50[0] ?? Number.NaN);
  return [
    asked.name,
    count(largest?.total ?? 0),
    ...p50.map((ms) => ms.toFixed(1)),
    ratio.toFixed(2),
    percentile(largest?.ms ?? [], 99).toFixed(1),
    coldMs.toFixed(1),
  ];
}
