import { parseArgs } from "node:util";
import { eventually } from "@parley/testkit/eventually";
import { obtain } from "@parley/testkit/programs/obtain";
import type { PublicAgent } from "../agents.ts";
import { cpuUsed } from "../cpu.ts";
import { count, medians, microseconds, milliseconds, table } from "../figures.ts";
import type { Run } from "../run.ts";
import { type BenchStack, startBenchStack } from "../stack.ts";
import { createAgents } from "./agents.ts";
import { type Contender, startContenders } from "./contenders.ts";
import { runWrk } from "./wrk.ts";

/** Enough that consecutive requests differ; few enough that all are read from memory. */
const AGENTS = 100;
const CONNECTIONS = "1,8,64";
const ROUNDS = "5";
const ROUND_SECONDS = 2;
/** Warm-up until the just-in-time compilers are done, as in a server that has run for a while. */
const WARM_UP_SECONDS = 8;
const STARTS_WITHIN_MS = 20_000;

/**
 * Measures `GET /v1/public/agents/{id}` through all of Parley against the same response with less behind it.
 * `--connections 1,64` and `--rounds N` shorten the run.
 */
export async function benchGateway(run: Run): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      connections: { type: "string", default: CONNECTIONS },
      rounds: { type: "string", default: ROUNDS },
    },
  });
  const connectionCounts = values.connections.split(",").map(Number);
  const rounds = Number(values.rounds);
  const wrk = await obtain("wrk");
  console.log("starting Parley and the contenders");
  const stack = await startBenchStack(run);
  const agents = await createAgents(stack, AGENTS);
  const contenders = await startContenders(run, stack, agents);
  const bench: Bench = { wrk, stack, agents };
  for (const contender of contenders) {
    await eventually(() => verify(bench, contender), STARTS_WITHIN_MS);
    await measure(bench, contender, Math.max(...connectionCounts), WARM_UP_SECONDS);
  }
  for (const connections of connectionCounts) {
    console.log(`\n${connections} ${connections === 1 ? "connection" : "connections"}`);
    const results = await interleaved(bench, contenders, connections, rounds);
    console.log(report(contenders, results));
  }
}

interface Bench {
  wrk: string;
  stack: BenchStack;
  agents: readonly PublicAgent[];
}

type Figures = Record<"requestsPerSecond" | "p50Us" | "p99Us" | "cpuUs" | "postgresUs" | "redisUs", number>;

/** In the order A B C D A B C D …, so that other load on the machine affects all alike. */
async function interleaved(
  bench: Bench,
  contenders: readonly Contender[],
  connections: number,
  rounds: number,
): Promise<Figures[]> {
  const measured = contenders.map((): Figures[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, contender] of contenders.entries()) {
      await verify(bench, contender);
      measured[at]?.push(await measure(bench, contender, connections, ROUND_SECONDS));
    }
  }
  return measured.map(medians);
}

/** @throws unless every agent is answered with 200, as the API shows it. */
async function verify({ stack, agents }: Bench, { name, url }: Contender): Promise<void> {
  await Promise.all(
    agents.map(async (agent) => {
      const response = await fetch(url + pathOf(agent), { headers: { "X-API-Key": stack.apiKey } });
      const text = await response.text();
      if (response.status !== 200 || !Bun.deepEquals(JSON.parse(text), agent)) {
        throw new Error(`${name} answered wrongly: ${response.status} ${text}`);
      }
    }),
  );
}

async function measure(
  { wrk, stack, agents }: Bench,
  { name, url, pids }: Contender,
  connections: number,
  seconds: number,
): Promise<Figures> {
  const used = () => [cpuUsed(pids), cpuUsed(stack.pids(["postgres"])), cpuUsed(stack.pids(["redis"]))] as const;
  const before = used();
  const headers = { "X-API-Key": stack.apiKey };
  const { requests, us, p50Us, p99Us, failures } = await runWrk(wrk, {
    url,
    paths: agents.map(pathOf),
    headers,
    connections,
    seconds,
  });
  const after = used();
  if (failures > 0 || requests === 0) throw new Error(`${name}: ${failures} of ${requests} requests failed`);
  const [cpuUs, postgresUs, redisUs] = [0, 1, 2].map((at) => ((after[at] ?? 0) - (before[at] ?? 0)) / requests);
  return {
    requestsPerSecond: (requests * 1e6) / us,
    p50Us,
    p99Us,
    cpuUs: cpuUs ?? 0,
    postgresUs: postgresUs ?? 0,
    redisUs: redisUs ?? 0,
  };
}

function pathOf({ id }: PublicAgent): string {
  return `/v1/public/agents/${id}`;
}

function report(contenders: readonly Contender[], results: readonly Figures[]): string {
  const parley = results[0]?.requestsPerSecond ?? 0;
  const rows = results.map((figures, at) => [
    contenders[at]?.name ?? "",
    count(figures.requestsPerSecond),
    milliseconds(figures.p50Us),
    milliseconds(figures.p99Us),
    microseconds(figures.cpuUs),
    microseconds(figures.postgresUs),
    microseconds(figures.redisUs),
    at === 0 ? "" : (parley / figures.requestsPerSecond).toFixed(2),
  ]);
  const heads = ["", "requests/s", "p50", "p99", "CPU/request", "Postgres", "Redis", "Parley is ×"];
  return table([heads, ...rows]);
}
