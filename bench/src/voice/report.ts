import { table } from "../figures.ts";
import { WAITED_FOR_MS } from "./delays.ts";
import type { Spread } from "./load.ts";
import type { CallFigures } from "./measure.ts";

export interface Round {
  calls: number;
  /** The floor. */
  echo: CallFigures;
  parley: CallFigures;
}

const MIB = 1024 * 1024;

/** A row of figures for each number of calls, and one for the floor below it. */
export function reportOf(rounds: readonly Round[]): string {
  const heads = [
    "calls",
    "voice to voice p50 / p99",
    "beyond",
    "pace p99 / max",
    "barge-in p50 / p99",
    "lost",
    "wrong",
    "CPU/call-minute",
    "all",
    "memory/call",
  ];
  const rows = rounds.flatMap(({ calls, echo, parley }) => [
    [
      `${calls}`,
      spread(parley.voiceToVoice),
      spread(beyond(parley.voiceToVoice)),
      `${parley.deviation.p99.toFixed(1)} / ${parley.deviation.max.toFixed(1)} ms`,
      spread(parley.bargeIn),
      `${parley.lost}`,
      `${parley.wrong} of ${parley.wrong + parley.voiceToVoice.count}`,
      `${parley.cpu.own.toFixed(2)} s`,
      `${parley.cpu.all.toFixed(2)} s`,
      `${(parley.memory / MIB).toFixed(1)} MiB`,
    ],
    [
      "  bare echo",
      spread(echo.voiceToVoice),
      "",
      `${echo.deviation.p99.toFixed(1)} / ${echo.deviation.max.toFixed(1)} ms`,
      "",
      `${echo.lost}`,
      "",
      `${echo.cpu.own.toFixed(2)} s`,
      "",
      `${(echo.memory / MIB).toFixed(1)} MiB`,
    ],
  ]);
  return table([heads, ...rows]);
}

/** The part of a time from voice to voice beyond the waits that every system has. */
export function beyond({ count, p50, p99, max }: Spread): Spread {
  return { count, p50: p50 - WAITED_FOR_MS, p99: p99 - WAITED_FOR_MS, max: max - WAITED_FOR_MS };
}

function spread({ p50, p99 }: Spread): string {
  return `${p50.toFixed(0)} / ${p99.toFixed(0)} ms`;
}
