import type { Clock } from "../clock.ts";
import type { Logger } from "../log.ts";
import type { Database } from "./database.ts";

export interface DatabaseClock extends Clock {
  doubtMs(): number;
  stop(): void;
}

/** The two clocks of a process's host, milliseconds. */
export interface HostClocks {
  /** Since 1970; somebody may set it. */
  wall(): number;
  /** Since any moment; nobody sets it, but it may stand still while the host does. */
  steady(): number;
}

export interface DatabaseClockSettings {
  host?: HostClocks;
  /** Milliseconds from one look at the database's clock to the next. */
  everyMs?: number;
}

const HOST: HostClocks = { wall: () => Date.now(), steady: () => performance.now() };
const EVERY_MS = 10_000;
/** A clock that moves by more than this against another one did not drift: it was set, or stood still. */
const JUMP_MS = 1_000;
/** After a jump, this long without another makes the new time the right one. */
const SETTLED_MS = 24 * 60 * 60_000;

/**
 * The database's clock, the same for all processes, so that a lease, a retry or an age means the same to each of them however wrong
 * its host's clock is. The time is computed: the steady clock of the host plus its difference from the database's, measured at the
 * start, every ten seconds, and when the host's clocks part. So decisions in the process and times in statements come from one
 * clock that tests can replace, which `now()` in the statements would not give.
 *
 * A measurement says that the database's clock showed some time between two moments. The computed time is changed only if it lies
 * outside: a slow answer says little, and changes little.
 *
 * Other sources are asked for `doubtMs`: the host's wall clock, which was right if it agrees, and what the database's clock itself
 * showed before: by how much it has jumped in the last day against the steady clock. The second also notices when both
 * are one clock because database and process share a host. Neither needs anything remembered, so a week without any process is no jump.
 * @throws what the first measurement fails with
 */
export async function followDatabaseClock(
  db: Database,
  log: Logger,
  { host = HOST, everyMs = EVERY_MS }: DatabaseClockSettings = {},
): Promise<DatabaseClock> {
  /** What the database's clock shows beyond the host's steady one. */
  let aheadMs = Number.NaN;
  /** What the host's wall clock showed beyond its steady one at the last measurement. */
  let wallAheadMs = Number.NaN;
  let jump = { ms: 0, at: Number.NEGATIVE_INFINITY };
  let measuring = false;
  let timer: Timer | undefined;
  let stopped = false;

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
    log.warn({ jump_ms: Math.round(ms) }, "the database's clock jumped, or this host stood still");
  }

  function isSettled(): boolean {
    return host.steady() - jump.at >= SETTLED_MS;
  }

  async function remeasure(): Promise<void> {
    if (measuring || stopped) return;
    measuring = true;
    clearTimeout(timer);
    try {
      await measure();
    } catch {
      // The last measurement stands: the host's steady clock loses a few milliseconds an hour at worst.
    } finally {
      measuring = false;
      if (!stopped) timer = setTimeout(remeasure, everyMs).unref();
    }
  }

  function nowMs(): number {
    if (Math.abs(host.wall() - host.steady() - wallAheadMs) >= JUMP_MS) void remeasure();
    return host.steady() + aheadMs;
  }

  await measure();
  timer = setTimeout(remeasure, everyMs).unref();
  return {
    now: () => new Date(nowMs()),
    doubtMs: () => Math.max(Math.abs(nowMs() - host.wall()), isSettled() ? 0 : Math.abs(jump.ms)),
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
