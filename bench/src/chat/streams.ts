import { microseconds, milliseconds, table } from "../figures.ts";
import { memoryUsed } from "../memory.ts";
import type { Contender, ContenderName } from "./contenders.ts";
import { type Bench, cpuLine, type Figures, measure, mediansOf, totalCpuUs } from "./measure.ts";
import { WORD_EVERY_MS } from "./reply.ts";

export interface StreamsSettings {
  /** At once. */
  streams: number;
  seconds: number;
  rounds: number;
}

/** `memory` in bytes, as the rounds went. */
export type StreamFigures = Partial<Record<ContenderName, Figures & { memory: readonly number[] }>>;

const MODEL = "bench-20ms";
/** All streams begin within this time. */
const RAMP_MS = 1_000;
const WARM_UP_SECONDS = 5;
export const MIB = 1024 * 1024;

/** Runs many streams at once, with a word every 20 ms in each, and measures the gaps between words, the CPU of a reply, and memory. */
export async function benchStreams(bench: Bench, settings: StreamsSettings): Promise<StreamFigures> {
  const { streams, seconds, rounds } = settings;
  const job = { streamed: true, turnsPerSession: 10, connections: streams, rampMs: RAMP_MS };
  const measured = bench.contenders.map((contender) => ({
    contender,
    figures: [] as Figures[],
    memory: [] as number[],
  }));
  for (const { contender } of measured) {
    await measure(bench, contender, { ...job, target: contender.targets[MODEL], seconds: WARM_UP_SECONDS });
  }
  for (let round = 0; round < rounds; round++) {
    for (const { contender, figures, memory } of measured) {
      const watch = watchMemory(contender, seconds);
      figures.push(await measure(bench, contender, { ...job, target: contender.targets[MODEL], seconds }));
      memory.push(...watch.stop());
    }
  }
  const all = measured.map(({ contender, figures, memory }) => ({ contender, memory, ...mediansOf(figures) }));
  console.log(
    `\n${streams} streams at once, a word every ${WORD_EVERY_MS[MODEL]} ms, ${rounds} × ${seconds} s\n${report(all)}`,
  );
  return Object.fromEntries(all.map(({ contender, ...figures }) => [contender.name, figures]));
}

function report(all: readonly (Figures & { contender: Contender; memory: readonly number[] })[]): string {
  const [direct] = all;
  const heads = ["", "replies/s", "first word p50", "gap p99", "added p99", "longest", "CPU/reply", "memory, MiB"];
  const rows = all.map((figures) => [
    figures.contender.name,
    figures.turnsPerSecond.toFixed(0),
    milliseconds(figures.firstP50Us),
    milliseconds(figures.gapP99Us),
    direct && figures !== direct ? milliseconds(figures.gapP99Us - direct.gapP99Us) : "",
    milliseconds(figures.gapMaxUs),
    microseconds(totalCpuUs(figures)),
    figures.memory.map((bytes) => `${Math.round(bytes / MIB)}`).join(" "),
  ]);
  return `${table([heads, ...rows])}\n${all.map((figures) => cpuLine(figures.contender, figures)).join("")}`;
}

/** Samples memory a few times, first when all streams have begun. */
function watchMemory({ processes }: Contender, seconds: number): { stop(): number[] } {
  const pids = Object.values(processes);
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
