/** A time limit that does not count the time in between. */
export interface PausableTimer {
  pause(): void;
  resume(): void;
  end(): void;
}

/** @param withinMs infinite for no limit */
export function pausableTimer(withinMs: number, late: () => void): PausableTimer {
  let leftMs = withinMs;
  let since = 0;
  let timer: Timer | undefined;
  let isOver = false;

  function resume(): void {
    if (isOver || timer || leftMs === Number.POSITIVE_INFINITY) return;
    since = performance.now();
    timer = setTimeout(late, leftMs);
  }
  function pause(): void {
    if (timer) leftMs -= performance.now() - since;
    clearTimeout(timer);
    timer = undefined;
  }

  resume();
  return {
    pause,
    resume,
    end() {
      isOver = true;
      clearTimeout(timer);
    },
  };
}
