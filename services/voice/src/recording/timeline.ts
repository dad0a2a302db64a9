import { FRAME_MS, type Pcm, SILENT_FRAME } from "../audio/pcm.ts";

/** Aligns in time what both parties of a call say. */
export interface Timeline {
  /** Adds a frame of FRAME_SAMPLES that came in at this moment. */
  user(frame: Pcm, now: number): void;
  /** Adds a frame that goes out now and is heard this much later; silence needs no frame. */
  agent(frame: Pcm, now: number, inMs: number): void;
  /** Drops the agent's audio that has not been heard. */
  cut(now: number): void;
  /** Ends the timeline. */
  end(now: number): void;
}

// These are in frames.
/** A party that is further behind has sent nothing: networks delay audio by less, and our own clock hardly drifts. */
const BEHIND_MAX = { user: 10, agent: 3 };
/** If a party is ahead by more, silence is left out until it is in sync again, as after network congestion that was filled with silence. */
const AHEAD_MAX = 5;
/** Memory for a peer that stays ahead. */
const AHEAD_LIMIT = 100;
/** How long a frame waits for the other party's. */
const WAIT_MAX = 15;
/** The highest level of a frame that counts as silent. */
const SILENT_BELOW = 64;

/**
 * Both parties have clocks of their own, and neither sends all the time; the wall clock keeps them together within 300 ms.
 * @param startedAt milliseconds, by the clock of the frames' times
 * @param paired called with the frames of each FRAME_MS, in order
 */
export function timeline(startedAt: number, paired: (user: Pcm, agent: Pcm) => void): Timeline {
  const waiting = { user: [] as Pcm[], agent: [] as Pcm[] };
  let told = 0;

  const dueAt = (now: number) => Math.floor((now - startedAt) / FRAME_MS);

  function take(party: keyof typeof waiting, frame: Pcm, now: number, inMs: number): void {
    const frames = waiting[party];
    const ahead = told + frames.length - dueAt(now + inMs);
    if (ahead > AHEAD_LIMIT || (ahead > AHEAD_MAX && isSilent(frame))) return;
    if (-ahead > BEHIND_MAX[party]) catchUp(frames, now, inMs);
    frames.push(frame);
    tell(dueAt(now));
  }

  function catchUp(frames: Pcm[], now: number, inMs: number): void {
    tellUntil(dueAt(now));
    while (told + frames.length < dueAt(now + inMs)) frames.push(SILENT_FRAME);
  }

  /** Reports what is complete, and what has waited for long. */
  function tell(due: number): void {
    while (waiting.user.length > 0 && waiting.agent.length > 0) tellOne();
    tellUntil(due - WAIT_MAX);
  }

  function tellUntil(due: number): void {
    while (told < due) tellOne();
  }

  function tellOne(): void {
    told++;
    paired(waiting.user.shift() ?? SILENT_FRAME, waiting.agent.shift() ?? SILENT_FRAME);
  }

  return {
    user: (frame, now) => take("user", frame, now, 0),
    agent: (frame, now, inMs) => take("agent", frame, now, inMs),
    cut: (now) => {
      waiting.agent.length = Math.min(waiting.agent.length, Math.max(0, dueAt(now) - told));
    },
    end: (now) => {
      while (waiting.user.length > 0 || waiting.agent.length > 0) tellOne();
      tellUntil(dueAt(now));
    },
  };
}

function isSilent(frame: Pcm): boolean {
  return frame.every((sample) => Math.abs(sample) < SILENT_BELOW);
}
