import { afterAll, afterEach, expect, test } from "bun:test";
import { fakeClock } from "@parley/testkit/clock";
import { eventually } from "@parley/testkit/eventually";
import { claimJobs, type Shares } from "../src/jobs/claim.ts";
import { enqueueJobs, type Job } from "../src/jobs/store.ts";
import { startWorker } from "../src/jobs/worker.ts";
import { silentLogger } from "../src/log.ts";
import { newJob, OFTEN_MS, QUEUE, startJobKit } from "./fixtures/job-kit.ts";

const kit = await startJobKit();
afterEach(() => kit.clear());
afterAll(() => kit.stop());

/** More than a claim reads regardless of owners. */
const MANY = 300;
const LONG_AGO = new Date("2020-01-01T00:00:00Z");
const RECENTLY = new Date("2025-01-01T00:00:00Z");

function enqueue(ownerId: string, count: number, dueAt: Date): Promise<void> {
  return enqueueJobs(
    kit.db,
    Array.from({ length: count }, (_, at) => newJob(`${ownerId}_${String(at).padStart(3, "0")}`, dueAt, ownerId)),
  );
}

/** Runs jobs one after the other. @returns the owners in the order in which their jobs ran */
function runOneByOne(settings = {}): string[] {
  const ran: string[] = [];
  kit.work({ concurrency: 1, perOwner: 1, run: async ({ ownerId }) => void ran.push(ownerId) }, settings);
  return ran;
}

async function claim(limit: number, shares: Partial<Shares> = {}): Promise<string[]> {
  const all = { perOwner: 2, running: new Map(), last: "", ...shares };
  const { jobs } = await claimJobs(kit.db, { queue: QUEUE, now: new Date(), leaseMs: 60_000, limit, shares: all });
  return jobs.map(({ ownerId }) => ownerId);
}

for (const count of [20, MANY]) {
  test(`an owner with ${count} due jobs that hang delays nobody else's jobs`, async () => {
    await enqueue("own_hanging", count, LONG_AGO);
    const started: Job[] = [];
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    const run = async (job: Job) => {
      started.push(job);
      if (job.ownerId === "own_hanging") await released;
    };
    // Without a setting in the queue, an owner's share is a quarter.
    const queue = { concurrency: 8, leaseMs: 60_000, attemptsMax: 1, run };
    const worker = startWorker(kit.connect(), { [QUEUE]: queue }, silentLogger, { pollMs: OFTEN_MS });
    kit.atEnd(() => {
      release();
      return worker.stop();
    });
    await eventually(() => expect(started).toHaveLength(2));
    await enqueue("own_a", 5, RECENTLY);
    await enqueue("own_z", 5, RECENTLY);
    await eventually(() => expect(started).toHaveLength(12));
    expect(started.filter(({ ownerId }) => ownerId === "own_hanging")).toHaveLength(2);
  });

  test(`owners take turns though one of them has ${count} jobs that were due first`, async () => {
    await enqueue("own_b", count, LONG_AGO);
    for (const ownerId of ["own_a", "own_c"]) await enqueue(ownerId, 3, RECENTLY);
    const ran = runOneByOne();
    await eventually(() => expect(ran.length).toBeGreaterThan(9));
    expect(ran.slice(0, 10).join(" ")).toBe("own_a own_b own_c own_a own_b own_c own_a own_b own_c own_b");
  });
}

test("each of many owners gets a turn before any gets a second one", async () => {
  const owners = Array.from({ length: MANY }, (_, at) => `own_${at}`);
  const jobs = owners.flatMap((ownerId) => [1, 2].map((n) => newJob(`${ownerId}_${n}`, LONG_AGO, ownerId)));
  await enqueueJobs(kit.db, jobs);
  const turns: string[] = [];
  for (let last = ""; turns.length < MANY; last = turns.at(-1) ?? "") turns.push(...(await claim(20, { last })));
  expect(turns.toSorted()).toEqual(owners.toSorted());
});

test("retries of an owner whose jobs all fail delay nobody else's jobs", async () => {
  const clock = fakeClock();
  await enqueue("own_failing", MANY, LONG_AGO);
  const ran: string[] = [];
  const run = async ({ ownerId }: Job) => {
    ran.push(ownerId);
    if (ownerId === "own_failing") throw new Error("no");
  };
  const failing = { concurrency: 1, perOwner: 1, attemptsMax: Number.POSITIVE_INFINITY, retryDelayMs: () => 1, run };
  kit.work(failing, { clock, pollMs: OFTEN_MS });
  await eventually(() => expect(ran.length).toBeGreaterThan(5));
  await enqueue("own_z", 1, LONG_AGO);
  const before = ran.length;
  await eventually(() => {
    clock.advance(10);
    expect(ran).toContain("own_z");
  });
  // The claim in progress may have taken one, and so may the one before it.
  expect(ran.indexOf("own_z") - before).toBeLessThan(4);
});

test("an owner gets at most its share of the places; jobs without an owner may take all", async () => {
  await enqueue("own_a", 9, LONG_AGO);
  await enqueue("", 9, LONG_AGO);
  const running = new Map([["own_a", 1]]);
  const claimed = Object.groupBy(await claim(8, { perOwner: 3, running }), (ownerId) => ownerId);
  expect(claimed.own_a).toHaveLength(2);
  expect(claimed[""]).toHaveLength(6);
});

test("an owner with nothing running goes before one that has a place", async () => {
  await enqueue("own_a", 1, LONG_AGO);
  await enqueue("own_b", 1, RECENTLY);
  expect(await claim(1, { running: new Map([["own_a", 1]]) })).toEqual(["own_b"]);
});

test("a claim that loses its jobs to a concurrent one reports that there may be more", async () => {
  await enqueue("own_a", 3, LONG_AGO);
  const settings = { queue: QUEUE, now: new Date(), leaseMs: 60_000, limit: 4 };
  const shares = { perOwner: 2, running: new Map(), last: "" };
  await kit.db.begin(async (tx) => {
    expect((await claimJobs(tx, { ...settings, shares })).jobs).toHaveLength(2);
    expect(await claimJobs(kit.db, { ...settings, shares })).toMatchObject({ jobs: [], contested: true, more: true });
  });
  expect(await claimJobs(kit.db, { ...settings, shares })).toMatchObject({ jobs: [{}], contested: false });
});

test("processes of the previous build, which claim by time, and new ones share jobs without running any twice", async () => {
  await Promise.all(["own_a", "own_b", "own_c"].map((ownerId) => enqueue(ownerId, MANY, LONG_AGO)));
  const claimed: string[] = [];
  const claimAsBefore = async () => {
    const jobs = await kit.db<{ jobId: string }[]>`
      with due as materialized (
        select owner_id, job_id from jobs
        where queue = ${QUEUE} and claimable_at <= now() order by claimable_at limit 32 for update skip locked
      )
      update jobs set leased_until = now() + interval '1 minute', lease = lease + 1, attempts = attempts + 1
      from due where jobs.owner_id = due.owner_id and jobs.job_id = due.job_id
      returning jobs.job_id`;
    claimed.push(...jobs.map(({ jobId }) => jobId));
  };
  const claimNow = async () => {
    const shares = { perOwner: 8, running: new Map(), last: "" };
    const settings = { queue: QUEUE, now: new Date(), leaseMs: 60_000, limit: 32, shares };
    claimed.push(...(await claimJobs(kit.db, settings)).jobs.map(({ jobId }) => jobId));
  };
  while (claimed.length < 3 * MANY) await Promise.all([claimAsBefore(), claimNow(), claimNow()]);
  expect(new Set(claimed).size).toBe(3 * MANY);
});
