import { milliseconds } from "../figures.ts";
import { totalCpuUs } from "./measure.ts";
import { MIB, type StreamFigures } from "./streams.ts";
import type { WayFigures, WayName } from "./turns.ts";

export interface Results {
  turns: Partial<Record<WayName, WayFigures>>;
  streams: StreamFigures;
}

export interface Goal {
  name: string;
  measured: string;
  wanted: string;
  met: boolean;
}

const WHOLE = [
  ["whole", "a session a turn"],
  ["whole-10", "sessions of ten turns"],
] as const satisfies [WayName, string][];
const ADDED_P50_US_MAX = 4_000;
const FIRST_WORD_US_MAX = 100_000;
const MEMORY_MIB_MAX = 450;
const CPU_RATIO_MAX = 0.7;

/** The goals of the chat path, for what was measured. CPU includes all processes, Postgres and Redis too. */
export function goalsOf({ turns, streams }: Results): Goal[] {
  const whole = WHOLE.flatMap(([way, title]) => wholeGoals(title, turns[way] ?? {}));
  return [...whole, ...streamedGoals(turns["streamed-5ms"] ?? {}), ...manyGoals(streams)];
}

function wholeGoals(title: string, { upstream, Portkey, Express, Parley }: WayFigures): Goal[] {
  if (!Parley) return [];
  const name = `whole turns/s, ${title}`;
  const { turnsPerSecond } = Parley.together;
  return [
    ...(Portkey ? [atLeast(`${name}, of Portkey's`, turnsPerSecond / Portkey.together.turnsPerSecond, 1)] : []),
    ...(Portkey ? [atLeast(`${name}, the stretch`, turnsPerSecond / Portkey.together.turnsPerSecond, 1.2)] : []),
    ...(Express ? [atLeast(`${name}, of Express's`, turnsPerSecond / Express.together.turnsPerSecond, 2)] : []),
    ...(upstream ? [within(`added p50, ${title}`, Parley.alone.p50Us - upstream.alone.p50Us, ADDED_P50_US_MAX)] : []),
  ];
}

function streamedGoals({ Portkey, Parley }: WayFigures): Goal[] {
  if (!Portkey || !Parley) return [];
  const ratio = totalCpuUs(Parley.together) / totalCpuUs(Portkey.together);
  return [atMost("CPU of a streamed reply, of Portkey's", ratio, CPU_RATIO_MAX)];
}

function manyGoals({ Portkey, Express, Parley }: StreamFigures): Goal[] {
  if (!Parley) return [];
  const memory = Math.max(...Parley.memory) / MIB;
  const memoryGoal = {
    name: "many streams: memory",
    measured: `${memory.toFixed(0)} MiB`,
    wanted: `≤ ${MEMORY_MIB_MAX} MiB`,
    met: memory <= MEMORY_MIB_MAX,
  };
  return [
    ...(Portkey ? [within("many streams: gap p99, Portkey's", Parley.gapP99Us, Portkey.gapP99Us)] : []),
    ...(Express ? [within("many streams: gap p99, Express's", Parley.gapP99Us, Express.gapP99Us)] : []),
    within("many streams: first word p50", Parley.firstP50Us, FIRST_WORD_US_MAX),
    memoryGoal,
  ];
}

function atLeast(name: string, ratio: number, min: number): Goal {
  return { name, measured: `${ratio.toFixed(2)} ×`, wanted: `≥ ${min.toFixed(1)} ×`, met: ratio >= min };
}

function atMost(name: string, ratio: number, max: number): Goal {
  return { name, measured: `${ratio.toFixed(2)} ×`, wanted: `≤ ${max.toFixed(1)} ×`, met: ratio <= max };
}

function within(name: string, us: number, maxUs: number): Goal {
  return { name, measured: milliseconds(us), wanted: `≤ ${milliseconds(maxUs)}`, met: us <= maxUs };
}
