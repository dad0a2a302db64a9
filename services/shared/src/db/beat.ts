interface Beat {
  /** Calls `beat` between its times too, unless the last call is still running. */
  now(): void;
  end(): void;
}

const MISSED_MAX = 10;
const UNANSWERED_MS = 2_000;

/**
 * Calls `beat` every `beatMs` milliseconds unless the last call is still running. A vanished peer closes nothing, so only unanswered
 * statements reveal it.
 * @param onLost is called when `beat` fails, or takes longer than ten beats, but at least two seconds
 */
export function startBeat(beat: () => Promise<unknown>, beatMs: number, onLost: () => void): Beat {
  const missedMax = Math.max(MISSED_MAX, UNANSWERED_MS / beatMs);
  let missed = 0;
  let asking = false;
  let ended = false;
  const now = () => {
    if (asking || ended) return;
    asking = true;
    beat().then(() => {
      asking = false;
      missed = 0;
    }, onLost);
  };
  const timer = setInterval(() => {
    if (!asking) now();
    else if (++missed >= missedMax) onLost();
  }, beatMs);
  const end = () => {
    ended = true;
    clearInterval(timer);
  };
  return { now, end };
}
