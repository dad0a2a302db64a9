import { microseconds, milliseconds, table } from "../figures.ts";
import { memoryShare, memoryUsed } from "../memory.ts";
import type { Contender, ContenderName } from "./contenders.ts";
import { type Bench, cpuLine, type Figures, measure, mediansOf, totalCpuUs } from "./measure.ts";
import { modelOfPace } from "./reply.ts";

export interface StreamsSettings {
  /** At once. */
  streams: number;
  seconds: number;
  /** The upstream's pace. */
  wordMs: number;
  /** How often each stream's client begins a turn; 0 for as soon as the last one has ended. */
  everyMs: number;
  rounds: number;
}

interface Memory {
  /** Resident, in bytes, by process. */
  resident: Readonly<Record<string, number>>;
  /** Of all processes, in bytes, pages that several map counted once. */
  share: number;
}

/** `memory`: resident bytes of all processes, as the rounds went. */
export type StreamFigures = Partial<Record<ContenderName, Figures & { memory: readonly number[] }>>;

/** All streams begin within this time. */
const RAMP_MS = 1_000;
const WARM_UP_SECONDS = 5;
export const MIB = 1024 * 1024;

/** Runs many streams at once, and measures the gaps between words, the CPU of a reply, and memory. */
export async function benchStreams(bench: Bench, settings: StreamsSettings): Promise<StreamFigures> {
  const { streams, seconds, rounds, wordMs, everyMs } = settings;
  const model = modelOfPace(wordMs);
  const job = { streamed: true, turnsPerSession: 10, connections: streams, rampMs: everyMs || RAMP_MS, everyMs };
  const measured = bench.contenders.map((contender) => ({
    contender,
    figures: [] as Figures[],
    samples: [] as Memory[],
  }));
  for (const { contender } of measured) {
    await measure(bench, contender, { ...job, target: contender.targets[model], seconds: WARM_UP_SECONDS });
  }
  for (let round = 0; round < rounds; round++) {
    for (const { contender, figures, samples } of measured) {
      const watch = watchMemory(contender, seconds);
      figures.push(await measure(bench, contender, { ...job, target: contender.targets[model], seconds }));
      samples.push(...watch.stop());
    }
  }
  const all = measured.map(({ contender, figures, samples }) => ({
    contender,
    samples,
    memory: samples.map(residentOf),
    ...mediansOf(figures),
  }));
  const who = everyMs > 0 ? `clients that begin a turn every ${everyMs / 1000} s` : "streams at once";
  console.log(`\n${streams} ${who}, a word every ${wordMs} ms, ${rounds} × ${seconds} s\n${report(all)}`);
  return Object.fromEntries(all.map(({ contender, samples: _, ...figures }) => [contender.name, figures]));
}

function report(
  all: readonly (Figures & { contender: Contender; memory: readonly number[]; samples: readonly Memory[] })[],
): string {
  const [direct] = all;
  const heads = [
    "",
    "replies/s",
    "first word p50",
    "gap p99",
    "added p99",
    "longest",
    "CPU/reply",
    "RSS, MiB",
    "PSS, MiB",
  ];
  const rows = all.map((figures) => [
    figures.contender.name,
    figures.turnsPerSecond.toFixed(0),
    milliseconds(figures.firstP50Us),
    milliseconds(figures.gapP99Us),
    direct && figures !== direct ? milliseconds(figures.gapP99Us - direct.gapP99Us) : "",
    milliseconds(figures.gapMaxUs),
    microseconds(totalCpuUs(figures)),
    inMib(figures.memory),
    inMib(figures.samples.map(({ share }) => share)),
  ]);
  const details = all.map((figures) => `${cpuLine(figures.contender, figures)}${memoryLine(figures)}`);
  return `${table([heads, ...rows])}\n${details.join("")}`;
}

/** One line for a contender that has several processes, from the moment when all of them took the most together. */
function memoryLine({ contender, samples }: { contender: Contender; samples: readonly Memory[] }): string {
  const fullest = samples.toSorted((a, b) => residentOf(b) - residentOf(a))[0];
  const parts = Object.entries(fullest?.resident ?? {}).map(
    ([process, bytes]) => `${process} ${Math.round(bytes / MIB)} MiB`,
  );
  return parts.length > 1 ? `  Memory of ${contender.name}: ${parts.join(", ")}\n` : "";
}

function residentOf({ resident }: Memory): number {
  return Object.values(resident).reduce((sum, bytes) => sum + bytes, 0);
}

function inMib(samples: readonly number[]): string {
  return samples.map((bytes) => `${Math.round(bytes / MIB)}`).join(" ");
}

/** Samples memory a few times, first when all streams have begun. */
function watchMemory({ processes }: Contender, seconds: number): { stop(): Memory[] } {
  const own = Object.entries(processes);
  const seen: Memory[] = [];
  const look = () => {
    if (own.length === 0) return;
    const resident = Object.fromEntries(own.map(([name, pid]) => [name, memoryUsed([pid])]));
    seen.push({ resident, share: memoryShare(Object.values(processes)) });
  };
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
