import { FRAME_MS } from "../audio/pcm.ts";

/** If it is behind by more, a stream starts over instead of sending everything overdue in one burst. */
const BEHIND_MAX_MS = 200;

/**
 * Calls `tick` every FRAME_MS until the returned function is called. Each tick is timed from the first one, so that delays do not add
 * up: ticks that a busy loop missed follow at once.
 */
export function pace(tick: () => void): () => void {
  let due = performance.now() + FRAME_MS;
  let stopped = false;
  let timer = setTimeout(run, FRAME_MS);

  function run(): void {
    const now = performance.now();
    if (now - due > BEHIND_MAX_MS) due = now;
    // Armed first: a tick that throws or takes long does not stop the next one.
    const overdue = 1 + Math.floor(Math.max(0, now - due) / FRAME_MS);
    due += overdue * FRAME_MS;
    timer = setTimeout(run, Math.max(0, due - now));
    for (let count = 0; count < overdue && !stopped; count++) tick();
  }

  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}
