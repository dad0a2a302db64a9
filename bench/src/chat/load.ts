/** The load generator: a process that runs the job it is sent over HTTP and answers with what it measured. */
import { REPLY } from "./reply.ts";
import { openSession, type Target } from "./sessions.ts";

export interface Job {
  target: Target;
  streamed: boolean;
  turnsPerSession: number;
  /** Sessions at once, a turn at a time in each. */
  connections: number;
  seconds: number;
}

export type Measured = Record<"turns" | "us" | "p50Us" | "p99Us" | "firstP50Us", number>;

async function run({ target, streamed, turnsPerSession, connections, seconds }: Job): Promise<Measured> {
  const turnsUs: number[] = [];
  const firstUs: number[] = [];
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;

  const talk = async () => {
    while (performance.now() < until) {
      const say = openSession(target, streamed);
      for (let turn = 1; turn <= turnsPerSession && performance.now() < until; turn++) {
        const at = performance.now();
        const { text, firstAtMs } = await say(`Can you do number ${turn}?`);
        turnsUs.push((performance.now() - at) * 1000);
        firstUs.push((firstAtMs - at) * 1000);
        if (text !== REPLY) throw new Error(`${target.url} gave a wrong reply: ${text}`);
      }
    }
  };
  await Promise.all(Array.from({ length: connections }, talk));

  const us = (performance.now() - startedAt) * 1000;
  return {
    turns: turnsUs.length,
    us,
    p50Us: quantile(turnsUs, 0.5),
    p99Us: quantile(turnsUs, 0.99),
    firstP50Us: quantile(firstUs, 0.5),
  };
}

function quantile(values: number[], part: number): number {
  values.sort((a, b) => a - b);
  return values[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN;
}

if (import.meta.main) {
  Bun.serve({
    hostname: "127.0.0.1",
    port: Number(process.env.PORT),
    // A job takes as long as it says.
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
