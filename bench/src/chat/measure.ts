import { cpuUsed } from "../cpu.ts";
import type { BenchStack } from "../stack.ts";
import type { Contender, Field } from "./contenders.ts";
import type { Job, Measured } from "./load.ts";

export interface Bench extends Field {
  /** Of the load generator. */
  loadUrl: string;
}

export type Figures = Record<
  "turnsPerSecond" | "p50Us" | "p99Us" | "firstP50Us" | "gapP99Us" | "gapMaxUs" | "cpuUs" | "postgresUs",
  number
>;

/** Has the load generator do a job. @throws on any turn that failed or whose reply was not the upstream's. */
export async function measure({ stack, loadUrl }: Bench, { pids }: Contender, job: Job): Promise<Figures> {
  const before = used(stack, pids);
  const response = await fetch(loadUrl, { method: "POST", body: JSON.stringify(job), timeout: false });
  if (!response.ok) throw new Error(await response.text());
  const { turns, us, ...quantiles } = (await response.json()) as Measured;
  const after = used(stack, pids);
  return {
    ...quantiles,
    turnsPerSecond: (turns * 1e6) / us,
    cpuUs: (after.own - before.own) / turns,
    postgresUs: (after.postgres - before.postgres) / turns,
  };
}

function used(stack: BenchStack, pids: readonly number[]) {
  return { own: cpuUsed(pids), postgres: cpuUsed(stack.pids(["postgres"])) };
}
