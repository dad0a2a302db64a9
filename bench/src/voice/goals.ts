import { DELAYS_MS } from "./delays.ts";
import { beyond, type Round } from "./report.ts";

export interface Goal {
  name: string;
  measured: string;
  wanted: string;
  met: boolean;
}

/** The goals are for this many calls. */
const GOAL_CALLS = 50;

/**
 * Whether the goals are met; none without a round of 50 calls. The sum of the delays includes the transcript's, though nobody
 * waits for it.
 */
export function goalsOf(rounds: readonly Round[]): Goal[] {
  const round = rounds.find(({ calls }) => calls === GOAL_CALLS);
  if (!round) return [];
  const { parley } = round;
  const { p50, p99 } = beyond(parley.voiceToVoice);
  return [
    within("voice to voice beyond the sum of the delays, p50", p50 - DELAYS_MS.transcript, 20),
    within("the same, p99", p99 - DELAYS_MS.transcript, 80),
    within("voice to voice beyond what is waited for, p50", p50, 20),
    within("the same, p99", p99, 80),
    within("pace of the agent's packets, p99 from 20 ms", parley.deviation.p99, 5),
    within("first voice over the agent to its last packet, p99", parley.bargeIn.p99, 300),
    {
      name: "lost packets and wrong answers",
      measured: `${parley.lost + parley.wrong}`,
      wanted: "0",
      met: parley.lost + parley.wrong === 0,
    },
  ];
}

function within(name: string, ms: number, maxMs: number): Goal {
  return { name, measured: `${ms.toFixed(1)} ms`, wanted: `≤ ${maxMs} ms`, met: ms <= maxMs };
}
