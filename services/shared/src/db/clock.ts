import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";
import { repeat } from "../process/repeat.ts";
import type { Database } from "./database.ts";

export interface DatabaseClock extends Clock {
  doubtMs(): number;
  stop(): Promise<void>;
}

/** The two clocks of a process's host, in milliseconds. */
interface HostClocks {
  /** Since 1970; may be set. */
  wall(): number;
  /** Since any moment; never set, but may pause while the host does. */
  steady(): number;
}

interface DatabaseClockSettings {
  host?: HostClocks;
  /** Milliseconds between measurements of the database's clock. */
  everyMs?: number;
}

const HOST: HostClocks = { wall: () => Date.now(), steady: () => performance.now() };
const EVERY_MS = 10_000;
/** A clock that moves by more than this against another was set or paused; it did not drift. */
const JUMP_MS = 1_000;
/** A jump without another one for this long makes the new time the right one. */
const SETTLED_MS = 24 * 60 * 60_000;

/**
 * Follows the database's clock, which all processes share, so that a lease, a retry or an age means the same to each of
 * them even if a host's clock is wrong. The time is computed: the host's steady clock plus its offset from the
 * database's, measured at the start, every ten seconds, and when the host's clocks diverge. So the process and its
 * statements use one clock that tests can replace, which `now()` in statements would not allow.
 *
 * A measurement says that the database's clock showed some time between two moments. The computed time changes only if
 * it lies outside that interval: a slow answer says little and changes little.
 *
 * `doubtMs` compares other sources: the host's wall clock, and how far the database's clock has jumped in the last day
 * against the steady clock. The latter also works when both are one clock because database and process share a host.
 * Neither keeps state between runs, so a week without any process is no jump.
 * @throws errors of the first measurement
 */
export async function followDatabaseClock(
  db: Database,
  log: Logger,
  { host = HOST, everyMs = EVERY_MS }: DatabaseClockSettings = {},
): Promise<DatabaseClock> {
  /** How far the database's clock is ahead of the host's steady clock. */
  let aheadMs = Number.NaN;
  /** How far the host's wall clock was ahead of its steady clock at the last measurement. */
  let wallAheadMs = Number.NaN;
  let jump = { ms: 0, at: Number.NEGATIVE_INFINITY };

  async function measure(): Promise<void> {
    const sentAt = host.steady();
    wallAheadMs = host.wall() - sentAt;
    const [row] = await db<[{ ms: number }]>`select (extract(epoch from clock_timestamp()) * 1000)::float8 as ms`;
    const gotAt = host.steady();
    const [least, most] = [row.ms - gotAt, row.ms - sentAt];
    const before = aheadMs;
    aheadMs = Number.isNaN(before) ? (least + most) / 2 : Math.min(Math.max(before, least), most);
    if (Math.abs(aheadMs - before) >= JUMP_MS) noteJump(aheadMs - before, gotAt);
  }

  function noteJump(ms: number, at: number): void {
    jump = { ms: ms + (isSettled() ? 0 : jump.ms), at };
    log.warn({ jump_ms: Math.round(ms) }, "the database's clock jumped, or this host was suspended");
  }

  function isSettled(): boolean {
    return host.steady() - jump.at >= SETTLED_MS;
  }

  function nowMs(): number {
    if (Math.abs(host.wall() - host.steady() - wallAheadMs) >= JUMP_MS) measuring.now();
    return host.steady() + aheadMs;
  }

  await measure();
  // After a failure the last measurement stays: the host's steady clock loses a few milliseconds an hour at worst.
  const measuring = repeat(measure, everyMs, () => {});
  return {
    now: () => new Date(nowMs()),
    doubtMs: () => Math.max(Math.abs(nowMs() - host.wall()), isSettled() ? 0 : Math.abs(jump.ms)),
    stop: measuring.stop,
  };
}
