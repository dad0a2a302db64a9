import { afterAll, afterEach, expect, test } from "bun:test";
import { fakeClock } from "@parley/testkit/clock";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { recordLog } from "@parley/testkit/recorded-log";
import type { Sql } from "../src/db/database.ts";
import { claimJobs } from "../src/jobs/claim.ts";
import {
  enqueueJob,
  enqueueJobOnce,
  enqueueJobs,
  extendLease,
  failJob,
  finishJobs,
  handOverJob,
  type Job,
  repeatJob,
} from "../src/jobs/store.ts";
import { newJob, OFTEN_MS, QUEUE, startJobKit } from "./fixtures/job-kit.ts";

const kit = await startJobKit();
afterEach(() => kit.clear());
afterAll(() => kit.stop());

async function claim(now: Date, limit: number): Promise<Job[]> {
  const shares = { perOwner: limit, running: new Map(), last: "" };
  return (await claimJobs(kit.db, { queue: QUEUE, now, leaseMs: 1_000, limit, shares })).jobs;
}

async function blockedIn(sql: Sql): Promise<number> {
  const { count } = await sql`
    select from pg_stat_activity where datname = current_database() and cardinality(pg_blocking_pids(pid)) > 0`;
  return count;
}

test("a job runs once, however many workers want it", async () => {
  const ids = Array.from({ length: 60 }, (_, i) => `job_${i}`);
  const ran: string[] = [];
  for (let i = 0; i < 3; i++) {
    kit.work({ run: async (job) => void ran.push(job.jobId) }, {}, kit.connect());
  }
  await Promise.all(ids.map((id) => kit.enqueue(id)));
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  expect(ran.toSorted()).toEqual(ids.toSorted());
});

test("a job enqueued in a transaction that is rolled back never runs", async () => {
  const ran: string[] = [];
  kit.work({ run: async (job) => void ran.push(job.jobId) });
  const rolledBack = kit.db.begin(async (tx) => {
    await enqueueJob(tx, newJob("undone"));
    throw new Error("no");
  });
  expect(await failureOf(rolledBack)).toEqual(new Error("no"));
  await kit.enqueue("done");
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  expect(ran).toEqual(["done"]);
});

test("the same id twice is one job with the newer payload and time", async () => {
  const [first, second] = [new Date("2030-01-01T00:00:00Z"), new Date("2030-01-02T00:00:00Z")];
  await enqueueJob(kit.db, { ...newJob("twice", first), payload: { n: 1 } });
  await enqueueJob(kit.db, { ...newJob("twice", second), payload: { n: 2 } });
  await enqueueJobOnce(kit.db, { ...newJob("twice", first), payload: { n: 3 } });
  expect(await kit.rows()).toMatchObject([{ jobId: "twice", payload: { n: 2 }, dueAt: second, attempts: 0 }]);
});

test("the job of a killed worker comes back when its lease ends", async () => {
  const leaseMs = 60_000;
  const clock = fakeClock(new Date());
  await kit.enqueue("orphan");
  const script = new URL("fixtures/hanging-worker.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, script, kit.url, QUEUE, String(leaseMs)], {
    stdout: "pipe",
  });
  for await (const _claimed of child.stdout) break;
  child.kill("SIGKILL");
  await child.exited;

  const runs: number[] = [];
  kit.work({ leaseMs, run: async (job) => void runs.push(job.attempts) }, { clock, pollMs: OFTEN_MS });
  await kit.enqueue("fresh", clock.now());
  await eventually(async () => expect(await kit.rows()).toMatchObject([{ jobId: "orphan" }]));
  expect(runs).toEqual([1]);
  clock.advance(leaseMs + 60_000);
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  expect(runs).toEqual([1, 2]);
});

test("a running job keeps its lease however long it takes", async () => {
  const clock = fakeClock(new Date());
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  const queue = {
    leaseMs: 60,
    run: () => {
      runs++;
      return gate.promise;
    },
  };
  kit.work(queue, { clock, pollMs: OFTEN_MS });
  kit.work(queue, { clock, pollMs: OFTEN_MS });
  await kit.enqueue("long", clock.now());
  for (let i = 0; i < 4; i++) {
    await eventually(async () =>
      expect((await kit.rows())[0]?.leasedUntil).toEqual(new Date(clock.now().getTime() + 60)),
    );
    clock.advance(50);
  }
  gate.resolve();
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  expect(runs).toBe(1);
});

test("a failed run is repeated after the delay for its number of attempts", async () => {
  const clock = fakeClock(new Date());
  const attempts: number[] = [];
  const run = async (job: Job) => {
    attempts.push(job.attempts);
    if (job.attempts < 3) throw new Error(`failure ${job.attempts}`);
  };
  kit.work({ run, attemptsMax: 3, retryDelayMs: (n) => n * 10_000 }, { clock, pollMs: OFTEN_MS });
  await kit.enqueue("flaky", clock.now());
  for (const n of [1, 2]) {
    const retryAt = new Date(clock.now().getTime() + n * 10_000);
    const failed = { attempts: n, dueAt: retryAt, leasedUntil: null, lastError: `Error: failure ${n}` };
    await eventually(async () => expect(await kit.rows()).toMatchObject([failed]));
    clock.advance(n * 10_000);
  }
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  expect(attempts).toEqual([1, 2, 3]);
});

test("a failed job keeps its row and its error until it is enqueued again", async () => {
  let broken = true;
  const run = async () => {
    if (broken) throw new Error("nul \0 inside");
  };
  kit.work({ run });
  await kit.enqueue("hopeless");
  const givenUp = { givenUp: true, leasedUntil: null, lastError: "Error: nul  inside" };
  await eventually(async () => expect(await kit.rows()).toMatchObject([givenUp]));
  broken = false;
  await kit.enqueue("hopeless");
  await eventually(async () => expect(await kit.rows()).toEqual([]));
});

test("a run that returns a time is repeated then, as a first attempt", async () => {
  const clock = fakeClock(new Date());
  const attempts: number[] = [];
  const again = new Date(clock.now().getTime() + 30_000);
  const run = async (job: Job) => {
    attempts.push(job.attempts);
    return attempts.length === 1 ? again : undefined;
  };
  kit.work({ run }, { clock, pollMs: OFTEN_MS });
  await kit.enqueue("periodic", clock.now());
  await eventually(async () =>
    expect(await kit.rows()).toMatchObject([{ dueAt: again, leasedUntil: null, attempts: 0 }]),
  );
  clock.advance(30_000);
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  expect(attempts).toEqual([1, 1]);
});

test("a run whose lease was lost changes nothing, however it ends", async () => {
  const clock = fakeClock();
  await kit.enqueue("contested", clock.now());
  const [stale] = await claim(clock.now(), 1);
  clock.advance(1_000);
  const [current] = await claim(clock.now(), 1);
  // An enqueue during a run resets the attempts, so the stale run's number of attempts means nothing.
  await enqueueJob(kit.db, newJob("contested", clock.now()));
  const before = await kit.rows();
  if (!stale || !current) throw new Error("not claimed");
  await extendLease(kit.db, stale, new Date("2040-01-01T00:00:00Z"), 1_000);
  await failJob(kit.db, stale, null, "stale");
  await repeatJob(kit.db, stale, new Date("2040-01-01T00:00:00Z"));
  await handOverJob(kit.db, stale, new Date("2040-01-01T00:00:00Z"));
  await finishJobs(kit.db, [stale]);
  expect(await kit.rows()).toEqual(before);
});

test("jobs whose runs end together are deleted, except those enqueued in the meantime, in either order", async () => {
  const ids = Array.from({ length: 30 }, (_, at) => `job_${at}`);
  const now = new Date();
  for (let round = 0; round < 10; round++) {
    await enqueueJobs(
      kit.db,
      ids.map((id) => newJob(id, now)),
    );
    const claimed = await claim(now, ids.length);
    expect(claimed).toHaveLength(ids.length);
    const again = ids.filter((_, at) => at % 3 === 0);
    await enqueueJob(kit.db, newJob("job_0", now));
    await Promise.all([
      enqueueJobs(
        kit.db,
        again.toReversed().map((id) => newJob(id, now)),
      ),
      finishJobs(kit.db, claimed.slice(0, 15)),
      finishJobs(kit.db, claimed.slice(15).toReversed()),
    ]);
    const left = await kit.rows();
    expect(left.map(({ jobId }) => jobId).toSorted()).toEqual(again.toSorted());
    expect(left.every(({ leasedUntil, attempts }) => leasedUntil === null && attempts === 0)).toBeTrue();
  }
});

test("a job enqueued by a transaction that commits just while its run ends can be claimed again at once", async () => {
  const now = new Date();
  const ids = ["kept", "done"];
  await enqueueJobs(
    kit.db,
    ids.map((id) => newJob(id, now)),
  );
  const claimed = await claim(now, ids.length);
  let finishing: Promise<void> | undefined;
  await kit.db.begin(async (tx) => {
    await enqueueJob(tx, newJob("kept", now));
    finishing = finishJobs(kit.db, claimed);
    await eventually(async () => expect(await blockedIn(tx)).toBe(1));
  });
  await finishing;
  expect(await kit.rows()).toMatchObject([{ jobId: "kept", leasedUntil: null, attempts: 0 }]);
});

test("a job enqueued while it runs is run again afterwards and never twice at once", async () => {
  const gates = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const runs: unknown[] = [];
  let running = 0;
  let most = 0;
  const run = async (job: Job) => {
    most = Math.max(most, ++running);
    runs.push(job.payload);
    await gates[runs.length - 1]?.promise;
    running--;
  };
  kit.work({ run, concurrency: 2 });
  kit.work({ run, concurrency: 2 });
  await enqueueJob(kit.db, { ...newJob("again"), payload: 1 });
  await eventually(() => expect(runs).toEqual([1]));
  await enqueueJob(kit.db, { ...newJob("again"), payload: 2 });
  await kit.enqueue("other");
  await eventually(() => expect(runs).toHaveLength(2));
  gates[0]?.resolve();
  gates[1]?.resolve();
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  expect(runs).toEqual([1, {}, 2]);
  expect(most).toBe(2);
});

test("a run whose end cannot be stored does not count as failed; its job returns when the lease ends", async () => {
  const clock = fakeClock(new Date());
  const { log, lines } = recordLog();
  const failures: number[] = [];
  const attempts: number[] = [];
  const retryDelayMs = (attempt: number) => {
    failures.push(attempt);
    return 1;
  };
  await kit.db`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`;
  kit.atEnd(() => kit.db`drop function refuse cascade`);
  await kit.db`create trigger refuse before delete on jobs for each row execute function refuse()`;
  kit.work(
    { run: async (job) => void attempts.push(job.attempts), attemptsMax: 2, retryDelayMs },
    { clock, pollMs: OFTEN_MS },
    kit.connect(),
    log,
  );
  await kit.enqueue("unstored", clock.now());
  await eventually(() =>
    expect(lines).toMatchObject([{ level: "warn", job_id: "unstored", err: { message: "refused" } }]),
  );
  await kit.db`drop trigger refuse on jobs`;
  clock.advance(60_000);
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  expect(attempts).toEqual([1, 2]);
  expect(failures).toEqual([]);
});

test("a run that fails or returns a time keeps the time of a job enqueued in the meantime", async () => {
  const clock = fakeClock();
  const asked = new Date(clock.now().getTime() + 5_000);
  const ends: [string, (job: Job) => Promise<void>][] = [
    ["failed", (job) => failJob(kit.db, job, new Date("2040-01-01T00:00:00Z"), "no")],
    ["given up", (job) => failJob(kit.db, job, null, "no")],
    ["repeated", (job) => repeatJob(kit.db, job, new Date("2040-01-01T00:00:00Z"))],
  ];
  for (const [id, end] of ends) {
    await kit.enqueue(id, clock.now());
    const [job] = await claim(clock.now(), 1);
    if (!job) throw new Error("not claimed");
    await kit.enqueue(id, asked);
    await end(job);
  }
  expect((await kit.rows()).map(({ jobId, dueAt, givenUp }) => ({ jobId, dueAt, givenUp }))).toEqual(
    ["failed", "given up", "repeated"].map((jobId) => ({ jobId, dueAt: asked, givenUp: false })),
  );
});

test("no more jobs run at once than their queue allows", async () => {
  const gate = Promise.withResolvers<void>();
  const ids = Array.from({ length: 10 }, (_, at) => `job_${at}`);
  let running = 0;
  let most = 0;
  const run = async () => {
    most = Math.max(most, ++running);
    await gate.promise;
    running--;
  };
  await Promise.all(ids.map((id) => kit.enqueue(id)));
  kit.work({ run, concurrency: 3 }, { pollMs: OFTEN_MS });
  await eventually(() => expect(running).toBe(3));
  gate.resolve();
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  expect(most).toBe(3);
});

test("a stopping worker lets its jobs end and claims no others", async () => {
  const gate = Promise.withResolvers<void>();
  const ran: string[] = [];
  const run = async (job: Job) => {
    ran.push(job.jobId);
    await gate.promise;
  };
  const worker = kit.work({ run, concurrency: 1 });
  await kit.enqueue("running");
  await eventually(() => expect(ran).toEqual(["running"]));
  await kit.enqueue("waiting");
  const stopped = worker.stop();
  gate.resolve();
  await stopped;
  expect(ran).toEqual(["running"]);
  expect(await kit.rows()).toMatchObject([{ jobId: "waiting", attempts: 0 }]);
});

test("a run learns when another one has taken its job", async () => {
  const told = Promise.withResolvers<void>();
  const run = async (_: Job, lease: AbortSignal) => {
    lease.addEventListener("abort", () => told.resolve());
    await kit.db`update jobs set lease = lease + 1`;
    await told.promise;
  };
  kit.work({ leaseMs: 60, run });
  await kit.enqueue("taken");
  await told.promise;
});

test("a run that cannot renew its lease in time learns so", async () => {
  const told = Promise.withResolvers<void>();
  const db = kit.connect();
  const run = async (_: Job, lease: AbortSignal) => {
    lease.addEventListener("abort", () => told.resolve());
    await db.end({ timeout: 0 });
    await told.promise;
  };
  kit.work({ leaseMs: 60, run }, {}, db);
  await kit.enqueue("cut off");
  await told.promise;
});

test("a job whose claim returns after its lease is not run: another worker may have run it", async () => {
  const heard = Promise.withResolvers<void>();
  const claimed = Promise.withResolvers<void>();
  const db = kit.connect();
  const late = new Proxy(db, {
    apply: (_, __, [strings, ...values]: Parameters<typeof db>) => {
      const query = db(strings, ...values);
      if (!strings[0]?.includes("with recursive oldest")) return query;
      return query.then(async (jobs) => {
        claimed.resolve();
        await heard.promise;
        return jobs;
      });
    },
  });
  const ran: string[] = [];
  await kit.enqueue("once");
  const worker = kit.work({ leaseMs: 60, run: async () => void ran.push("late") }, {}, late);
  await claimed.promise;
  kit.work({ run: async () => void ran.push("other") }, { pollMs: OFTEN_MS });
  await eventually(async () => expect(await kit.rows()).toEqual([]));
  heard.resolve();
  await worker.stop();
  expect(ran).toEqual(["other"]);
});

test("jobs enqueued in one statement behave like jobs enqueued alone", async () => {
  const [first, second] = [new Date("2030-01-01T00:00:00Z"), new Date("2030-01-02T00:00:00Z")];
  await kit.enqueue("b", first);
  await enqueueJobs(kit.db, [
    { ...newJob("b", second), payload: { text: 'a "quoted", {braced} \\ text' } },
    { ...newJob("a", first), payload: null },
  ]);
  await enqueueJobs(kit.db, []);
  expect(await kit.rows()).toMatchObject([
    { jobId: "a", payload: null, dueAt: first },
    { jobId: "b", payload: { text: 'a "quoted", {braced} \\ text' }, dueAt: second },
  ]);
});
