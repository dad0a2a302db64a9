import { freePorts } from "@parley/deploy/src/stack/ports.ts";
import { eventually } from "@parley/shared/testing/eventually";
import { cpuUsed } from "../cpu.ts";
import { count, medians, microseconds, milliseconds, table } from "../figures.ts";
import type { Run } from "../run.ts";
import type { BenchStack } from "../stack.ts";
import { type Contender, type Field, startField } from "./contenders.ts";
import type { Job, Measured } from "./load.ts";

type Way = Pick<Job, "streamed" | "turnsPerSession">;

const WAYS: readonly ({ name: string } & Way)[] = [
  { name: "Whole replies, a new session for each turn", streamed: false, turnsPerSession: 1 },
  { name: "Whole replies, sessions of ten turns", streamed: false, turnsPerSession: 10 },
  { name: "Streamed replies, a new session for each turn", streamed: true, turnsPerSession: 1 },
  { name: "Streamed replies, sessions of ten turns", streamed: true, turnsPerSession: 10 },
];
const AT_ONCE = 32;
const ROUNDS = 3;
const ROUND_SECONDS = 2;
/** Until the just-in-time compilers are done, for each way. */
const WARM_UP_SECONDS = 4;
const STARTS_WITHIN_MS = 20_000;

/** Chat turns through everything, against calling the model's API directly. */
export async function benchChat(run: Run): Promise<void> {
  console.log("starting Parley and the mock upstream");
  const field = await startField(run);
  const bench: Bench = { ...field, loadUrl: await startLoad(run) };
  for (const contender of field.contenders) {
    for (const way of WAYS) {
      await eventually(() => measure(bench, contender, { ...way, connections: 1, seconds: 0.1 }), STARTS_WITHIN_MS);
      await measure(bench, contender, { ...way, connections: AT_ONCE, seconds: WARM_UP_SECONDS });
    }
  }
  for (const way of WAYS) {
    const alone = await interleaved(bench, way, 1);
    const together = await interleaved(bench, way, AT_ONCE);
    console.log(`\n${way.name}\n${report(field.contenders, alone, together)}`);
  }
}

interface Bench extends Field {
  /** Of the load generator. */
  loadUrl: string;
}

async function startLoad(run: Run): Promise<string> {
  const [port = 0] = await freePorts(1);
  run.start("chat/load.ts", { PORT: String(port) });
  return `http://127.0.0.1:${port}`;
}

type Figures = Record<"turnsPerSecond" | "p50Us" | "p99Us" | "firstP50Us" | "cpuUs" | "postgresUs", number>;

async function interleaved(bench: Bench, way: Way, connections: number): Promise<Figures[]> {
  const rounds = bench.contenders.map((): Figures[] => []);
  for (let round = 0; round < ROUNDS; round++) {
    for (const [at, contender] of bench.contenders.entries()) {
      rounds[at]?.push(await measure(bench, contender, { ...way, connections, seconds: ROUND_SECONDS }));
    }
  }
  return rounds.map(medians);
}

/** @throws on any turn that failed or whose reply was not the upstream's. */
async function measure(
  { stack, loadUrl }: Bench,
  { target, pids }: Contender,
  { streamed, turnsPerSession, connections, seconds }: Omit<Job, "target">,
): Promise<Figures> {
  const before = used(stack, pids);
  const job: Job = { target, streamed, turnsPerSession, connections, seconds };
  const response = await fetch(loadUrl, { method: "POST", body: JSON.stringify(job) });
  if (!response.ok) throw new Error(await response.text());
  const { turns, us, ...quantiles } = (await response.json()) as Measured;
  const after = used(stack, pids);
  return {
    ...quantiles,
    turnsPerSecond: (turns * 1e6) / us,
    cpuUs: (after.own - before.own) / turns,
    postgresUs: (after.postgres - before.postgres) / turns,
  };
}

function used(stack: BenchStack, pids: readonly number[]) {
  return { own: cpuUsed(pids), postgres: cpuUsed(stack.pids(["postgres"])) };
}

function report(contenders: readonly Contender[], alone: readonly Figures[], together: readonly Figures[]): string {
  const [direct] = alone;
  const heads = ["", "one at a time: p50", "p99", "added p50", "added p99", "first word p50"];
  const loadHeads = [`${AT_ONCE} at once: turns/s`, "p50", "p99", "CPU/turn", "Postgres"];
  const rows = contenders.map(({ name }, at) => {
    const [one, many] = [alone[at], together[at]];
    if (!one || !many || !direct) return [name];
    const added = at === 0 ? ["", ""] : [one.p50Us - direct.p50Us, one.p99Us - direct.p99Us].map(milliseconds);
    return [
      ...[name, milliseconds(one.p50Us), milliseconds(one.p99Us), ...added, milliseconds(one.firstP50Us)],
      ...[count(many.turnsPerSecond), milliseconds(many.p50Us), milliseconds(many.p99Us)],
      ...[microseconds(many.cpuUs), microseconds(many.postgresUs)],
    ];
  });
  return table([[...heads, ...loadHeads], ...rows]);
}
