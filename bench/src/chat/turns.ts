import { count, microseconds, milliseconds, table } from "../figures.ts";
import type { Contender, ContenderName } from "./contenders.ts";
import type { Job } from "./load.ts";
import { type Bench, cpuLine, type Figures, measure, mediansOf, totalCpuUs } from "./measure.ts";
import type { Model } from "./reply.ts";

const WAYS = {
  whole: { title: "Whole replies, a new session for each turn", model: "bench", streamed: false, turnsPerSession: 1 },
  "whole-10": { title: "Whole replies, sessions of ten turns", model: "bench", streamed: false, turnsPerSession: 10 },
  streamed: {
    title: "Streamed replies, a new session for each turn",
    model: "bench",
    streamed: true,
    turnsPerSession: 1,
  },
  "streamed-10": {
    title: "Streamed replies, sessions of ten turns",
    model: "bench",
    streamed: true,
    turnsPerSession: 10,
  },
  "streamed-5ms": {
    title: "Streamed replies, a word every 5 ms",
    model: "bench-5ms",
    streamed: true,
    turnsPerSession: 1,
  },
} as const satisfies Record<string, { title: string; model: Model } & Pick<Job, "streamed" | "turnsPerSession">>;

export type WayName = keyof typeof WAYS;
export const WAY_NAMES = Object.keys(WAYS) as WayName[];

/** Figures for one turn at a time, and for many at once. */
export type TurnFigures = Record<"alone" | "together", Figures>;
export type WayFigures = Partial<Record<ContenderName, TurnFigures>>;

export const AT_ONCE = 32;
export const ROUND_SECONDS = 2;
/** Warm-up of each way: for as long do just-in-time compilers take a part of the CPU of all contenders. */
export const WARM_UP_SECONDS = 15;

/** Measures one way of taking turns and prints the figures. */
export async function benchTurns(bench: Bench, name: WayName, rounds: number): Promise<WayFigures> {
  for (const contender of bench.contenders) {
    await measure(bench, contender, jobOf(contender, name, AT_ONCE, WARM_UP_SECONDS));
  }
  const alone = await interleaved(bench, name, 1, rounds);
  const together = await interleaved(bench, name, AT_ONCE, rounds);
  const figures = bench.contenders.map((contender, at) => {
    const [one, many] = [alone[at], together[at]];
    if (!one || !many) throw new Error(`${contender.name} was not measured`);
    return { contender, alone: one, together: many };
  });
  console.log(`\n${WAYS[name].title}\n${report(figures)}`);
  return Object.fromEntries(figures.map(({ contender, ...measured }) => [contender.name, measured]));
}

async function interleaved(bench: Bench, name: WayName, connections: number, rounds: number): Promise<Figures[]> {
  const measured = bench.contenders.map((): Figures[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [at, contender] of bench.contenders.entries()) {
      measured[at]?.push(await measure(bench, contender, jobOf(contender, name, connections, ROUND_SECONDS)));
    }
  }
  return measured.map(mediansOf);
}

function jobOf({ targets }: Contender, name: WayName, connections: number, seconds: number): Job {
  const { streamed, turnsPerSession, model } = WAYS[name];
  return { target: targets[model], streamed, turnsPerSession, connections, rampMs: 0, everyMs: 0, seconds };
}

function report(figures: readonly ({ contender: Contender } & TurnFigures)[]): string {
  const direct = figures[0]?.alone;
  const heads = ["", "one at a time: p50", "p99", "added p50", "added p99", "first word p50"];
  const loadHeads = [`${AT_ONCE} at once: turns/s`, "p50", "p99", "CPU/turn"];
  const rows = figures.map(({ contender, alone, together }) => {
    const added = direct && alone !== direct ? [alone.p50Us - direct.p50Us, alone.p99Us - direct.p99Us] : [];
    return [
      ...[contender.name, milliseconds(alone.p50Us), milliseconds(alone.p99Us)],
      ...(added.length > 0 ? added.map(milliseconds) : ["", ""]),
      ...[milliseconds(alone.firstP50Us), count(together.turnsPerSecond)],
      ...[milliseconds(together.p50Us), milliseconds(together.p99Us), microseconds(totalCpuUs(together))],
    ];
  });
  const lines = figures.map(({ contender, together }) => cpuLine(contender, together));
  return `${table([[...heads, ...loadHeads], ...rows])}\n${lines.join("")}`;
}
