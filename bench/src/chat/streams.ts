import { microseconds, milliseconds, table } from "../figures.ts";
import { memoryUsed } from "../memory.ts";
import type { Contender } from "./contenders.ts";
import { type Bench, type Figures, measure } from "./measure.ts";
import { WORD_EVERY_MS } from "./reply.ts";

export interface StreamsSettings {
  /** At once. */
  streams: number;
  seconds: number;
}

/** All streams begin within this time. */
const RAMP_MS = 1_000;
const WARM_UP_SECONDS = 5;
const MIB = 1024 * 1024;

/** Many streams at once, a word every 20 ms in each: how late words come, what a reply costs, what memory does. */
export async function benchStreams(bench: Bench, { streams, seconds }: StreamsSettings): Promise<void> {
  const rows: string[][] = [];
  let direct: Figures | undefined;
  for (const contender of bench.contenders) {
    const job = { streamed: true, turnsPerSession: 10, connections: streams, rampMs: RAMP_MS };
    await measure(bench, contender, { ...job, target: contender.paced, seconds: WARM_UP_SECONDS });
    const memory = watchMemory(contender, seconds);
    const figures = await measure(bench, contender, { ...job, target: contender.paced, seconds });
    direct ??= figures;
    rows.push(line(contender, figures, direct, memory.stop()));
  }
  const heads = [
    "",
    "replies/s",
    "first word p50",
    "gap p99",
    "added p99",
    "longest",
    "CPU/reply",
    "Postgres",
    "memory",
  ];
  console.log(
    `\n${streams} streams at once, a word every ${WORD_EVERY_MS} ms, ${seconds} s\n${table([heads, ...rows])}`,
  );
}

function line({ name, pids }: Contender, figures: Figures, direct: Figures, memory: readonly number[]): string[] {
  return [
    name,
    figures.turnsPerSecond.toFixed(0),
    milliseconds(figures.firstP50Us),
    milliseconds(figures.gapP99Us),
    figures === direct ? "" : milliseconds(figures.gapP99Us - direct.gapP99Us),
    milliseconds(figures.gapMaxUs),
    ...(pids.length === 0 ? ["", ""] : [microseconds(figures.cpuUs), microseconds(figures.postgresUs)]),
    memory.map((bytes) => `${Math.round(bytes / MIB)}`).join(" → "),
  ];
}

/** Looks a few times, the first time when all streams have begun. */
function watchMemory({ pids }: Contender, seconds: number): { stop(): number[] } {
  const seen: number[] = [];
  const look = () => void (pids.length > 0 && seen.push(memoryUsed(pids)));
  const first = setTimeout(look, RAMP_MS);
  const then = setInterval(look, (seconds * 1000) / 4);
  return {
    stop: () => {
      clearTimeout(first);
      clearInterval(then);
      return seen;
    },
  };
}
