import { afterAll, afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { enqueueJob } from "../src/jobs/store.ts";
import { HAND_OVER, type Queue } from "../src/jobs/worker.ts";
import { openGate } from "./fixtures/gate.ts";
import { newJob, OFTEN_MS, QUEUE, startJobKit } from "./fixtures/job-kit.ts";

// When workers look for jobs. No test here waits for a poll, unless it says so.

const kit = await startJobKit();
afterEach(() => kit.clear());
afterAll(() => kit.stop());

test("an insert wakes a worker without waiting for its poll", async () => {
  const ran: string[] = [];
  kit.work({ run: async (job) => void ran.push(job.jobId) });
  await kit.listening();
  await kit.enqueue("first");
  await eventually(() => expect(ran).toEqual(["first"]));
  await enqueueJob(kit.db, newJob("second", new Date("2100-01-01T00:00:00Z")));
  await kit.enqueue("third");
  await eventually(() => expect(ran).toEqual(["first", "third"]));
  await kit.enqueue("second");
  await eventually(() => expect(ran).toEqual(["first", "third", "second"]));
});

test("many jobs of a transaction and of a moment are told to other processes together, once committed", async () => {
  const JOBS = 100;
  const heard: string[] = [];
  const [row] = await kit.db<{ schema: string }[]>`select current_schema() as schema`;
  const { unlisten } = await kit.connect().listen(`${row?.schema}.jobs`, (told) => void heard.push(told));
  kit.atEnd(unlisten);
  await kit.db.begin(async (tx) => {
    for (let at = 0; at < JOBS; at++) await enqueueJob(tx, newJob(`together-${at}`));
    await kit.db`select pg_notify(current_schema() || '.jobs', 'before')`;
  });
  await Promise.all(Array.from({ length: JOBS }, (_, at) => kit.enqueue(`alone-${at}`)));
  await kit.db`select pg_notify(current_schema() || '.jobs', 'after')`;
  await eventually(() => expect(heard).toContain("after"));
  expect(heard[0]).toBe("before");
  expect(heard.some((told) => told.startsWith(`${QUEUE} `))).toBe(true);
  expect(heard.length).toBeLessThan(JOBS);
});

test("jobs that are rolled back are told to nobody", async () => {
  let woken = 0;
  kit.work({ run: async () => {}, onAsked: () => woken++ });
  // When it begins to listen.
  await eventually(() => expect(woken).toBe(1));
  const enqueued = kit.db.begin(async (tx) => {
    await enqueueJob(tx, newJob("never"));
    throw new Error("no");
  });
  expect(await failureOf(enqueued)).toHaveProperty("message", "no");
  await kit.enqueue("first");
  await eventually(() => expect(woken).toBe(2));
});

test("a worker learns of its own process's jobs without the database", async () => {
  const db = kit.connect();
  const deaf = kit.connect("postgres://nobody@127.0.0.1:1/none");
  const ran: string[] = [];
  kit.work({ run: async (job) => void ran.push(job.jobId) }, { direct: deaf }, db);
  // Its only poll may find the first, but not the second.
  for (const jobId of ["first", "second"]) {
    await enqueueJob(db, newJob(jobId));
    await eventually(() => expect(ran).toContain(jobId));
  }
});

test("a queue learns when a job is enqueued again while it runs", async () => {
  const asked = Promise.withResolvers<void>();
  let runs = 0;
  kit.work({
    run: async () => {
      if (++runs > 1) return;
      await enqueueJob(kit.db, newJob("again"));
      await asked.promise;
    },
    onAsked: () => runs === 1 && asked.resolve(),
  });
  await kit.listening();
  await kit.enqueue("again");
  await eventually(() => expect(runs).toBe(2));
});

test("the end of a run looks for no further jobs, unless some were told of while it ran", async () => {
  const JOBS = 10;
  let claims = 0;
  const db = kit.connect();
  const counted = new Proxy(db, {
    apply: (target, self, [text, ...values]) => {
      if (String(text).includes("recursive oldest")) claims++;
      return Reflect.apply(target, self, [text, ...values]);
    },
  });
  const ended: string[] = [];
  kit.work({ run: async (job) => void ended.push(job.jobId) }, {}, counted);
  await kit.listening();
  const before = claims;
  for (let at = 0; at < JOBS; at++) {
    await enqueueJob(db, newJob(`job-${at}`));
    await eventually(async () => expect([ended.length, ...(await kit.rows())]).toEqual([at + 1]));
  }
  // The start of LISTEN may wake the worker once more, and so may a notification that arrives late.
  expect(claims - before).toBeLessThan(JOBS + 4);
});

test("a released job also reaches the other worker, even if it is enqueued continuously", async () => {
  const turns = new Map<string, number>();
  const take =
    (worker: string): Queue["run"] =>
    async () => {
      turns.set(worker, (turns.get(worker) ?? 0) + 1);
      await enqueueJob(kit.db, newJob("shared"));
      return HAND_OVER;
    };
  kit.work({ run: take("one") });
  await kit.listening();
  await kit.enqueue("shared");
  await eventually(() => expect(turns.get("one")).toBeGreaterThan(1));
  kit.work({ run: take("other") });
  await eventually(() => expect(turns.get("other")).toBeGreaterThan(1));
  const before = turns.get("one") ?? 0;
  await eventually(() => expect(turns.get("one")).toBeGreaterThan(before));
});

test("a job starts at its time without waiting for the poll", async () => {
  const ran: string[] = [];
  kit.work({ run: async (job) => void ran.push(job.jobId) });
  await kit.listening();
  await kit.enqueue("soon", new Date(Date.now() + 100));
  await eventually(() => expect(ran).toEqual(["soon"]));
});

test("a due job locked by another transaction is not polled in a tight loop", async () => {
  let asked = 0;
  let ran = 0;
  const clock = {
    now: () => {
      asked++;
      return new Date();
    },
  };
  await enqueueJob(kit.db, newJob("held"));
  await kit.db.begin(async (tx) => {
    await enqueueJob(tx, newJob("held"));
    kit.work({ run: async () => void ran++ }, { clock });
    await kit.listening();
    const settled = asked;
    for (let i = 0; i < 100; i++) await tx`select 1`;
    // The start of LISTEN may wake the worker once more, and a claim that finds a job locked is repeated twice.
    expect(asked - settled).toBeLessThan(20);
  });
  await eventually(() => expect(ran).toBe(1));
});

test("workers survive the loss of every connection to Postgres", async () => {
  const ran: string[] = [];
  kit.work({ run: async (job) => void ran.push(job.jobId) }, {}, kit.connect());
  await kit.listening();
  await kit.db`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'jobs-worker' and pid <> pg_backend_pid()`;
  await kit.enqueue("after");
  await eventually(() => expect(ran).toEqual(["after"]));
});

test("a queue of a worker that stops is not asked for more when the worker begins to listen again", async () => {
  const done = Promise.withResolvers<void>();
  let [running, asked] = [false, 0];
  const worker = kit.work({
    run: () => {
      running = true;
      return done.promise;
    },
    onAsked: () => void asked++,
  });
  await kit.listening();
  await kit.enqueue("long");
  await eventually(() => expect(running).toBe(true));
  const stopping = worker.stop();
  const before = asked;
  const [{ pid }] = await kit.db<[{ pid: number }]>`
    select pid, pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and application_name = 'jobs-worker' and query ilike 'listen%'`;
  await eventually(async () => {
    const listeners = await kit.db<{ pid: number }[]>`
      select pid from pg_stat_activity
      where datname = current_database() and application_name = 'jobs-worker' and state = 'idle' and query ilike 'listen%'`;
    expect(listeners.filter((each) => each.pid !== pid)).toHaveLength(1);
  });
  done.resolve();
  // Ends with a statement on the connection that listens again.
  await stopping;
  expect(asked).toBe(before);
});

test("workers survive a Postgres outage, and are notified of inserts again afterwards", async () => {
  const url = new URL(kit.url);
  const gate = await openGate({ host: url.hostname, port: Number(url.port) });
  url.port = String(gate.port);
  const far = kit.connect(url.toString());
  kit.atEnd(() => gate.close());
  const ran: string[] = [];
  kit.work({ run: async (job) => void ran.push(job.jobId) }, {}, far);
  await kit.listening();
  await gate.close();
  expect(await failureOf(far`select 1`)).toBeInstanceOf(Error);
  await kit.enqueue("meanwhile");
  await gate.open();
  await eventually(() => expect(ran).toEqual(["meanwhile"]));
  await kit.enqueue("after");
  await eventually(() => expect(ran).toEqual(["meanwhile", "after"]));
});

test("a worker that starts before Postgres listens as soon as Postgres is up", async () => {
  const url = new URL(kit.url);
  const gate = await openGate({ host: url.hostname, port: Number(url.port) });
  url.port = String(gate.port);
  await gate.close();
  const far = kit.connect(url.toString());
  kit.atEnd(() => gate.close());
  const ran: string[] = [];
  kit.work({ run: async (job) => void ran.push(job.jobId) }, { pollMs: OFTEN_MS }, far);
  expect(await failureOf(far`select 1`)).toBeInstanceOf(Error);
  await kit.enqueue("early");
  await gate.open();
  await eventually(() => expect(ran).toEqual(["early"]));
  await kit.listening();
});
