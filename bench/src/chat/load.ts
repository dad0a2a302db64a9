/** The load generator: a process that receives a job over HTTP, runs it, and responds with the measurements. */
import { REPLY } from "./reply.ts";
import { openSession, type Target } from "./sessions.ts";

export interface Job {
  target: Target;
  streamed: boolean;
  turnsPerSession: number;
  /** Concurrent sessions, with one turn at a time in each. */
  connections: number;
  /** The sessions start spread over this time, so that their words do not arrive in step. */
  rampMs: number;
  /** The time between the beginnings of a session's turns; a turn that takes longer delays the next. */
  everyMs: number;
  seconds: number;
}

export type Measured = Record<"turns" | "us" | "p50Us" | "p99Us" | "firstP50Us" | "gapP99Us" | "gapMaxUs", number>;

/** Gaps are counted by tenths of a millisecond up to this one, so that a long run needs no more memory. */
const GAP_MAX_MS = 60_000;

async function run({
  target,
  streamed,
  turnsPerSession,
  connections,
  rampMs,
  everyMs,
  seconds,
}: Job): Promise<Measured> {
  const turnsUs: number[] = [];
  const firstUs: number[] = [];
  const gaps = new Uint32Array(GAP_MAX_MS * 10);
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;

  const talk = async (place: number) => {
    let nextAt = startedAt + (rampMs * place) / connections;
    const nextIsDue = async () => {
      const at = nextAt;
      nextAt += everyMs;
      if (at >= until) return false;
      const waitMs = at - performance.now();
      if (waitMs > 0) await Bun.sleep(waitMs);
      return performance.now() < until;
    };
    for (let isDue = await nextIsDue(); isDue; ) {
      const say = openSession(target, streamed);
      for (let turn = 1; turn <= turnsPerSession && isDue; turn++) {
        const at = performance.now();
        const { text, firstAtMs, gapsMs } = await say(`Can you do number ${turn}?`);
        turnsUs.push((performance.now() - at) * 1000);
        firstUs.push((firstAtMs - at) * 1000);
        for (const gapMs of gapsMs) count(gaps, gapMs);
        if (text !== REPLY) throw new Error(`${target.url} gave a wrong reply: ${text}`);
        isDue = await nextIsDue();
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, (_, place) => talk(place)));

  const us = (performance.now() - startedAt) * 1000;
  return {
    turns: turnsUs.length,
    us,
    p50Us: quantile(turnsUs, 0.5),
    p99Us: quantile(turnsUs, 0.99),
    firstP50Us: quantile(firstUs, 0.5),
    gapP99Us: quantileOfCounts(gaps, 0.99),
    gapMaxUs: quantileOfCounts(gaps, 1),
  };
}

function count(gaps: Uint32Array, gapMs: number): void {
  const place = Math.min(gaps.length - 1, Math.round(gapMs * 10));
  gaps[place] = (gaps[place] ?? 0) + 1;
}

/** @returns microseconds */
function quantileOfCounts(gaps: Uint32Array, part: number): number {
  const wanted = gaps.reduce((sum, more) => sum + more, 0) * part;
  let seen = 0;
  const place = gaps.findIndex((more) => {
    seen += more;
    return seen > 0 && seen >= wanted;
  });
  return place * 100;
}

function quantile(values: number[], part: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
}

if (import.meta.main) {
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(process.env.PORT),
    // A job's duration is part of the job.
    idleTimeout: 0,
    async fetch(request) {
      try {
        return Response.json(await run((await request.json()) as Job));
      } catch (error) {
        return new Response(error instanceof Error ? error.message : String(error), { status: 500 });
      }
    },
  });
}
