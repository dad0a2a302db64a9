import { parseArgs } from "node:util";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { eventually } from "@parley/shared/testing/eventually";
import { count, medians, microseconds, milliseconds, table } from "../figures.ts";
import type { Run } from "../run.ts";
import { type Contender, startField } from "./contenders.ts";
import type { Job } from "./load.ts";
import { type Bench, type Figures, measure } from "./measure.ts";
import { benchStreams } from "./streams.ts";

type Way = Pick<Job, "streamed" | "turnsPerSession">;

const WAYS: readonly ({ name: string } & Way)[] = [
  { name: "Whole replies, a new session for each turn", streamed: false, turnsPerSession: 1 },
  { name: "Whole replies, sessions of ten turns", streamed: false, turnsPerSession: 10 },
  { name: "Streamed replies, a new session for each turn", streamed: true, turnsPerSession: 1 },
  { name: "Streamed replies, sessions of ten turns", streamed: true, turnsPerSession: 10 },
];
const AT_ONCE = 32;
const ROUND_SECONDS = 2;
/** Until the just-in-time compilers are done, for each way. */
const WARM_UP_SECONDS = 3;
const STARTS_WITHIN_MS = 20_000;
/** A process makes no more requests at once by `fetch` unless it is told. */
const REQUESTS_MAX = "2000";

/**
 * Chat turns through everything, against calling the model's API directly and through a plain proxy.
 * `--only turns` or `--only streams` runs one half, `--only memory` the streams through Parley alone; `--rounds N` (of the turns),
 * `--streams N` and `--seconds N` set how much.
 */
export async function benchChat(run: Run): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      only: { type: "string" },
      rounds: { type: "string", default: "3" },
      streams: { type: "string", default: "500" },
      seconds: { type: "string", default: "10" },
    },
  });
  console.log("starting Parley, Portkey and the mock upstream");
  const field = await startField(run);
  const bench: Bench = { ...field, loadUrl: await startLoad(run) };
  for (const contender of field.contenders) {
    const job = { target: contender.target, streamed: false, turnsPerSession: 1, connections: 1, rampMs: 0 };
    await eventually(() => measure(bench, contender, { ...job, seconds: 0.1 }), STARTS_WITHIN_MS);
  }
  const streams = { streams: Number(values.streams), seconds: Number(values.seconds) };
  if (values.only === "memory") return benchStreams({ ...bench, contenders: bench.contenders.slice(-1) }, streams);
  if (values.only !== "streams") await benchTurns(bench, Number(values.rounds));
  if (values.only !== "turns") await benchStreams(bench, streams);
}

async function startLoad(run: Run): Promise<string> {
  const [port = 0] = await freePorts(1);
  run.start("chat/load.ts", { PORT: String(port), BUN_CONFIG_MAX_HTTP_REQUESTS: REQUESTS_MAX });
  return `http://127.0.0.1:${port}`;
}

async function benchTurns(bench: Bench, rounds: number): Promise<void> {
  for (const way of WAYS) {
    for (const contender of bench.contenders) {
      await measure(bench, contender, jobOf(contender, way, AT_ONCE, WARM_UP_SECONDS));
    }
    const alone = await interleaved(bench, way, 1, rounds);
    const together = await interleaved(bench, way, AT_ONCE, rounds);
    console.log(`\n${way.name}\n${report(bench.contenders, alone, together)}`);
  }
}

async function interleaved(bench: Bench, way: Way, connections: number, rounds: number): Promise<Figures[]> {
  const measured = bench.contenders.map((): Figures[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, contender] of bench.contenders.entries()) {
      measured[at]?.push(await measure(bench, contender, jobOf(contender, way, connections, ROUND_SECONDS)));
    }
  }
  return measured.map(medians);
}

function jobOf({ target }: Contender, way: Way, connections: number, seconds: number): Job {
  const { streamed, turnsPerSession } = way;
  return { target, streamed, turnsPerSession, connections, rampMs: 0, seconds };
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
