import { afterAll, afterEach, beforeAll, expect, test } from "bun:test";
import { type Database, openDatabase } from "../src/db/database.ts";
import { migrate } from "../src/db/migrate.ts";
import {
  claimJobs,
  enqueueJob,
  enqueueJobOnce,
  extendLease,
  failJob,
  finishJob,
  type Job,
  repeatJob,
} from "../src/jobs/store.ts";
import jobsTable from "../src/jobs/table.sql" with { type: "text" };
import { type Queue, startWorker, type Worker, type WorkerSettings } from "../src/jobs/worker.ts";
import { silentLogger } from "../src/log.ts";
import { fakeClock } from "../src/testing/clock.ts";
import { createTestDatabase, type TestDatabase } from "../src/testing/database.ts";
import { eventually } from "../src/testing/eventually.ts";
import { failureOf } from "./fixtures/failure-of.ts";
import { openGate } from "./fixtures/gate.ts";
import { recordLog } from "./fixtures/recorded-log.ts";

/** So long that no poll happens within a test. */
const NEVER_MS = 3_600_000;
/** For tests whose clock is told the time: a poll is how a worker notices. */
const OFTEN_MS = 10;
const OWNER = "own_1";

let testDatabase: TestDatabase;
let db: Database;
const cleanUps: (() => Promise<unknown>)[] = [];

beforeAll(async () => {
  testDatabase = await createTestDatabase();
  db = openDatabase({ url: testDatabase.urls.conversation, name: "jobs-test" });
  await migrate(db, [{ name: "0000_jobs", sql: jobsTable }]);
});
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await db`truncate jobs`;
});
afterAll(async () => {
  await db.end();
  await testDatabase.drop();
});

test("a job runs once, however many workers want it", async () => {
  const ids = Array.from({ length: 60 }, (_, i) => `job_${i}`);
  const ran: string[] = [];
  for (let i = 0; i < 3; i++) {
    work({ run: async (job) => void ran.push(job.jobId) }, {}, connect());
  }
  await Promise.all(ids.map((id) => enqueue(id)));
  await eventually(async () => expect(await rows()).toEqual([]));
  expect(ran.toSorted()).toEqual(ids.toSorted());
});

test("a job enqueued in a transaction that is rolled back never runs", async () => {
  const ran: string[] = [];
  work({ run: async (job) => void ran.push(job.jobId) });
  const rolledBack = db.begin(async (tx) => {
    await enqueueJob(tx, newJob("undone"));
    throw new Error("no");
  });
  expect(await failureOf(rolledBack)).toEqual(new Error("no"));
  await enqueue("done");
  await eventually(async () => expect(await rows()).toEqual([]));
  expect(ran).toEqual(["done"]);
});

test("the same id twice is one job with the newer payload and time", async () => {
  const [first, second] = [new Date("2030-01-01T00:00:00Z"), new Date("2030-01-02T00:00:00Z")];
  await enqueueJob(db, { ...newJob("twice", first), payload: { n: 1 } });
  await enqueueJob(db, { ...newJob("twice", second), payload: { n: 2 } });
  await enqueueJobOnce(db, { ...newJob("twice", first), payload: { n: 3 } });
  expect(await rows()).toMatchObject([{ jobId: "twice", payload: { n: 2 }, dueAt: second, attempts: 0 }]);
});

test("the job of a killed worker comes back when its lease ends", async () => {
  const leaseMs = 60_000;
  const clock = fakeClock(new Date());
  await enqueue("orphan");
  const script = new URL("fixtures/hanging-worker.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, script, testDatabase.urls.conversation, "test", String(leaseMs)], {
    stdout: "pipe",
  });
  for await (const _claimed of child.stdout) break;
  child.kill("SIGKILL");
  await child.exited;

  const runs: number[] = [];
  work({ leaseMs, run: async (job) => void runs.push(job.attempts) }, { clock, pollMs: OFTEN_MS });
  await enqueue("fresh", clock.now());
  await eventually(async () => expect(await rows()).toMatchObject([{ jobId: "orphan" }]));
  expect(runs).toEqual([1]);
  clock.advance(leaseMs + 60_000);
  await eventually(async () => expect(await rows()).toEqual([]));
  expect(runs).toEqual([1, 2]);
});

test("a run that goes on keeps its lease however long it takes", async () => {
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
  work(queue, { clock, pollMs: OFTEN_MS });
  work(queue, { clock, pollMs: OFTEN_MS });
  await enqueue("long", clock.now());
  for (let i = 0; i < 4; i++) {
    await eventually(async () => expect((await rows())[0]?.leasedUntil).toEqual(new Date(clock.now().getTime() + 60)));
    clock.advance(50);
  }
  gate.resolve();
  await eventually(async () => expect(await rows()).toEqual([]));
  expect(runs).toBe(1);
});

test("a failed run is repeated after the delay for its number of attempts", async () => {
  const clock = fakeClock(new Date());
  const attempts: number[] = [];
  const run = async (job: Job) => {
    attempts.push(job.attempts);
    if (job.attempts < 3) throw new Error(`failure ${job.attempts}`);
  };
  work({ run, retryDelayMs: (n) => n * 10_000 }, { clock, pollMs: OFTEN_MS });
  await enqueue("flaky", clock.now());
  for (const n of [1, 2]) {
    const retryAt = new Date(clock.now().getTime() + n * 10_000);
    const failed = { attempts: n, dueAt: retryAt, leasedUntil: null, lastError: `Error: failure ${n}` };
    await eventually(async () => expect(await rows()).toMatchObject([failed]));
    clock.advance(n * 10_000);
  }
  await eventually(async () => expect(await rows()).toEqual([]));
  expect(attempts).toEqual([1, 2, 3]);
});

test("a job given up keeps its row and its error until it is enqueued again", async () => {
  let broken = true;
  const run = async () => {
    if (broken) throw new Error("nul \0 inside");
  };
  work({ run });
  await enqueue("hopeless");
  const givenUp = { givenUp: true, leasedUntil: null, lastError: "Error: nul  inside" };
  await eventually(async () => expect(await rows()).toMatchObject([givenUp]));
  broken = false;
  await enqueue("hopeless");
  await eventually(async () => expect(await rows()).toEqual([]));
});

test("a returned time runs the job again then, as a first attempt", async () => {
  const clock = fakeClock(new Date());
  const attempts: number[] = [];
  const again = new Date(clock.now().getTime() + 30_000);
  const run = async (job: Job) => {
    attempts.push(job.attempts);
    return attempts.length === 1 ? again : undefined;
  };
  work({ run }, { clock, pollMs: OFTEN_MS });
  await enqueue("periodic", clock.now());
  await eventually(async () => expect(await rows()).toMatchObject([{ dueAt: again, leasedUntil: null, attempts: 0 }]));
  clock.advance(30_000);
  await eventually(async () => expect(await rows()).toEqual([]));
  expect(attempts).toEqual([1, 1]);
});

test("a run whose lease was lost changes nothing, whatever its end", async () => {
  const clock = fakeClock();
  await enqueue("contested", clock.now());
  const [stale] = await claimJobs(db, "test", clock.now(), 1_000, 1);
  clock.advance(1_000);
  const [current] = await claimJobs(db, "test", clock.now(), 1_000, 1);
  // As an enqueue during a run does, so that the stale run's number of attempts says nothing.
  await enqueueJob(db, newJob("contested", clock.now()));
  const before = await rows();
  if (!stale || !current) throw new Error("not claimed");
  await extendLease(db, stale, new Date("2040-01-01T00:00:00Z"), 1_000);
  await failJob(db, stale, null, "stale");
  await repeatJob(db, stale, new Date("2040-01-01T00:00:00Z"));
  await finishJob(db, stale);
  expect(await rows()).toEqual(before);
});

test("a job asked for again while it runs, runs again afterwards and never twice at once", async () => {
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
  work({ run, concurrency: 2 });
  work({ run, concurrency: 2 });
  await enqueueJob(db, { ...newJob("again"), payload: 1 });
  await eventually(() => expect(runs).toEqual([1]));
  await enqueueJob(db, { ...newJob("again"), payload: 2 });
  await enqueue("other");
  await eventually(() => expect(runs).toHaveLength(2));
  gates[0]?.resolve();
  gates[1]?.resolve();
  await eventually(async () => expect(await rows()).toEqual([]));
  expect(runs).toEqual([1, {}, 2]);
  expect(most).toBe(2);
});

test("a run whose end cannot be stored is not taken for a failure, its job comes back when the lease ends", async () => {
  const clock = fakeClock(new Date());
  const { log, lines } = recordLog();
  const failures: number[] = [];
  const attempts: number[] = [];
  const retryDelayMs = (attempt: number) => {
    failures.push(attempt);
    return null;
  };
  await db`create function refuse() returns trigger language plpgsql as $$ begin raise 'refused'; end $$`;
  cleanUps.push(() => db`drop function refuse cascade`);
  await db`create trigger refuse before delete on jobs for each row execute function refuse()`;
  work(
    { run: async (job) => void attempts.push(job.attempts), retryDelayMs },
    { clock, pollMs: OFTEN_MS },
    connect(),
    log,
  );
  await enqueue("unstored", clock.now());
  await eventually(() =>
    expect(lines).toMatchObject([{ level: "warn", job_id: "unstored", err: { message: "refused" } }]),
  );
  await db`drop trigger refuse on jobs`;
  clock.advance(60_000);
  await eventually(async () => expect(await rows()).toEqual([]));
  expect(attempts).toEqual([1, 2]);
  expect(failures).toEqual([]);
});

test("an insert wakes a worker without waiting for its poll", async () => {
  const ran: string[] = [];
  work({ run: async (job) => void ran.push(job.jobId) });
  await listening();
  await enqueue("first");
  await eventually(() => expect(ran).toEqual(["first"]));
  await enqueueJob(db, newJob("second", new Date("2100-01-01T00:00:00Z")));
  await enqueue("third");
  await eventually(() => expect(ran).toEqual(["first", "third"]));
  await enqueue("second");
  await eventually(() => expect(ran).toEqual(["first", "third", "second"]));
});

test("a job starts at its time without waiting for the poll", async () => {
  const ran: string[] = [];
  work({ run: async (job) => void ran.push(job.jobId) });
  await listening();
  await enqueue("soon", new Date(Date.now() + 100));
  await eventually(() => expect(ran).toEqual(["soon"]));
});

test("a due job that another transaction holds is not asked for over and over", async () => {
  let asked = 0;
  let ran = 0;
  const clock = {
    now: () => {
      asked++;
      return new Date();
    },
  };
  await enqueueJob(db, newJob("held"));
  await db.begin(async (tx) => {
    await enqueueJob(tx, newJob("held"));
    work({ run: async () => void ran++ }, { clock });
    await listening();
    const settled = asked;
    for (let i = 0; i < 100; i++) await tx`select 1`;
    // The beginning of the listening may wake it once more.
    expect(asked - settled).toBeLessThan(5);
  });
  await eventually(() => expect(ran).toBe(1));
});

test("workers survive the loss of every connection to Postgres", async () => {
  const ran: string[] = [];
  work({ run: async (job) => void ran.push(job.jobId) }, {}, connect());
  await listening();
  await db`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'jobs-worker' and pid <> pg_backend_pid()`;
  await enqueue("after");
  await eventually(() => expect(ran).toEqual(["after"]));
});

test("workers survive that Postgres is away for a while, and hear of inserts again afterwards", async () => {
  const url = new URL(testDatabase.urls.conversation);
  const gate = await openGate({ host: url.hostname, port: Number(url.port) });
  url.port = String(gate.port);
  const far = openDatabase({ url: url.toString(), name: "jobs-worker", max: 2 });
  cleanUps.push(
    () => gate.close(),
    () => far.end({ timeout: 1 }),
  );
  const ran: string[] = [];
  work({ run: async (job) => void ran.push(job.jobId) }, {}, far);
  await listening();
  await gate.close();
  expect(await failureOf(far`select 1`)).toBeInstanceOf(Error);
  await enqueue("meanwhile");
  await gate.open();
  await eventually(() => expect(ran).toEqual(["meanwhile"]));
  await enqueue("after");
  await eventually(() => expect(ran).toEqual(["meanwhile", "after"]));
});

test("a worker that starts before Postgres listens as soon as it is there", async () => {
  const url = new URL(testDatabase.urls.conversation);
  const gate = await openGate({ host: url.hostname, port: Number(url.port) });
  url.port = String(gate.port);
  await gate.close();
  const far = openDatabase({ url: url.toString(), name: "jobs-worker", max: 2 });
  cleanUps.push(
    () => gate.close(),
    () => far.end({ timeout: 1 }),
  );
  const ran: string[] = [];
  work({ run: async (job) => void ran.push(job.jobId) }, { pollMs: OFTEN_MS }, far);
  expect(await failureOf(far`select 1`)).toBeInstanceOf(Error);
  await enqueue("early");
  await gate.open();
  await eventually(() => expect(ran).toEqual(["early"]));
  await listening();
});

test("a stopping worker lets its jobs end and claims no more", async () => {
  const gate = Promise.withResolvers<void>();
  const ran: string[] = [];
  const run = async (job: Job) => {
    ran.push(job.jobId);
    await gate.promise;
  };
  const worker = work({ run, concurrency: 1 });
  await enqueue("running");
  await eventually(() => expect(ran).toEqual(["running"]));
  await enqueue("waiting");
  const stopped = worker.stop();
  gate.resolve();
  await stopped;
  expect(ran).toEqual(["running"]);
  expect(await rows()).toMatchObject([{ jobId: "waiting", attempts: 0 }]);
});

function work(
  queue: Partial<Queue> & Pick<Queue, "run">,
  settings: WorkerSettings = {},
  workerDb = connect(),
  log = silentLogger,
): Worker {
  const full = { concurrency: 5, leaseMs: 60_000, retryDelayMs: () => null, ...queue };
  const worker = startWorker(workerDb, { test: full }, log, { pollMs: NEVER_MS, ...settings });
  cleanUps.push(() => worker.stop());
  return worker;
}

function connect(): Database {
  const own = openDatabase({ url: testDatabase.urls.conversation, name: "jobs-worker", max: 2 });
  cleanUps.push(() => own.end({ timeout: 1 }));
  return own;
}

function newJob(jobId: string, dueAt = new Date()) {
  return { ownerId: OWNER, jobId, queue: "test", payload: {}, dueAt };
}

function enqueue(jobId: string, dueAt?: Date): Promise<void> {
  return enqueueJob(db, newJob(jobId, dueAt));
}

interface Row extends Job {
  dueAt: Date;
  givenUp: boolean;
  leasedUntil: Date | null;
  lastError: string | null;
}

async function rows(): Promise<Row[]> {
  return [
    ...(await db<Row[]>`
      select owner_id, job_id, queue, payload, attempts, lease, due_at, due_at = 'infinity' as given_up, leased_until, last_error
      from jobs order by job_id`),
  ];
}

/** Until a worker has sent its LISTEN and has nothing else on that connection. */
async function listening(): Promise<void> {
  await eventually(async () => {
    const [row] = await db<{ count: number }[]>`
      select count(*) from pg_stat_activity
      where datname = current_database() and application_name = 'jobs-worker' and state = 'idle' and query ilike 'listen%'`;
    expect(row?.count).toBe(1);
  });
}
