// What must hold of `postgres`, mainly after a lost connection. README.md says how to run it beside any release.
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";

const url = process.env.DATABASE_URL;
const quiet = { onnotice: () => {} };
const admin = postgres(url, { ...quiet, max: 1 });
const failures = [];
// What no promise carries would end the process.
process.on("uncaughtException", (error) => failures.push(`uncaught: ${error.message}`));
process.on("unhandledRejection", (error) => failures.push(`unhandled: ${error?.message}`));

async function check(title, run) {
  const before = failures.length;
  const late = sleep(5_000).then(() => assert.fail("no result after 5 s"));
  await Promise.race([run(), late]).catch((error) => failures.push(error.message.split("\n")[0]));
  const found = [...new Set(failures.slice(before))];
  const lines = [`${found.length === 0 ? "ok  " : "FAIL"} ${title}`, ...found.map((failure) => `       ${failure}`)];
  process.stdout.write(`${lines.join("\n")}\n`);
}

/** Ends the connection of a transaction as a crash of Postgres does. */
async function cut(tx) {
  const [{ pid }] = await tx`select pg_backend_pid() as pid`;
  await admin`select pg_terminate_backend(${pid}, 5000)`;
  await sleep(50);
}

const codeOf = (error) => error?.code ?? error?.message;
const LOST = ["CONNECTION_CLOSED", "CONNECTION_DESTROYED", "ECONNRESET", "EPIPE", "57P01"];

await check("a transaction whose connection is lost rejects, and the next one works", async () => {
  const sql = postgres(url, { ...quiet, max: 2 });
  for (let round = 0; round < 10; round++) {
    const error = await sql
      .begin(async (tx) => {
        await cut(tx);
        await tx`select 1`;
      })
      .catch((thrown) => thrown);
    assert.ok(LOST.includes(codeOf(error)), `rejected with ${codeOf(error)}`);
  }
  assert.equal((await sql.begin((tx) => tx`select 1 as one`))[0].one, 1);
  await sql.end({ timeout: 1 });
});

await check("a lost transaction writes nothing more on a later connection", async () => {
  const sql = postgres(url, { ...quiet, max: 2 });
  await admin`create unlogged table if not exists lost_notes (text text)`;
  await admin`truncate lost_notes`;
  let resume;
  const resumed = new Promise((resolve) => (resume = resolve));
  let settle;
  const late = new Promise((resolve) => (settle = resolve));
  const lost = sql.begin(async (tx) => {
    await cut(tx);
    await resumed;
    await tx`insert into lost_notes values ('late')`.then(
      () => settle("done"),
      () => settle("rejected"),
    );
  });
  await lost.catch(() => {});
  await Promise.all(Array.from({ length: 8 }, () => sql`select 1`));
  resume();
  assert.equal(await late, "rejected", "the statement ran");
  assert.equal((await admin`select from lost_notes`).length, 0, "a row was written outside of the transaction");
  await sql.end({ timeout: 1 });
});

await check("under cuts every query gets its own answer", async () => {
  const sql = postgres(url, { ...quiet, max: 2, connection: { application_name: "lost" } });
  let stop = false;
  let asked = 0;
  const work = async () => {
    while (!stop) {
      const number = ++asked;
      try {
        const [a] = await sql.begin((tx) => tx`select ${number}::int as a`);
        const [c] = await sql`select ${number}::int as c, 'x' as d`;
        assert.deepEqual([{ ...a }, { ...c }], [{ a: number }, { c: number, d: "x" }]);
      } catch (error) {
        if (!LOST.includes(codeOf(error))) throw error;
      }
    }
  };
  const workers = Promise.all(Array.from({ length: 8 }, work));
  workers.catch(() => {});
  for (let round = 0; round < 20; round++) {
    await sleep(30);
    await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'lost'`;
  }
  stop = true;
  await workers;
  await sql.end({ timeout: 1 });
});

await check("answer_timeout gives up a connection that owes an answer", async () => {
  const sql = postgres(url, { ...quiet, max: 1, answer_timeout: 0.5 });
  const error = await sql`select pg_sleep(3)`.catch((thrown) => thrown);
  assert.ok(LOST.includes(codeOf(error)), `answered: ${codeOf(error)}`);
  await sql.end({ timeout: 1 });
});

await check("max_pipeline: 0 keeps queries and transactions from waiting behind a blocked one", async () => {
  const sql = postgres(url, { ...quiet, max: 2, max_pipeline: 0 });
  const blocked = sql`select pg_sleep(1)`.then(() => "blocked");
  const works = Array.from({ length: 10 }, (_, at) => (at % 5 ? sql`select 1` : sql.begin((tx) => tx`select 1`)));
  assert.equal(await Promise.race([blocked, Promise.all(works).then(() => "others")]), "others");
  await sql.end({ timeout: 2 });
});

await admin`drop table if exists lost_notes`.catch(() => {});
process.exit(failures.length === 0 ? 0 : 1);
