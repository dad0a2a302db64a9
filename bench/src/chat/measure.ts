import { cpuUsed } from "../cpu.ts";
import { medians, microseconds } from "../figures.ts";
import type { BenchStack } from "../stack.ts";
import type { Contender, Field } from "./contenders.ts";
import type { Job, Measured } from "./load.ts";

export interface Bench extends Field {
  /** Address of the load generator. */
  loadUrl: string;
}

/** Whose CPU is measured. */
export type Measurable = Pick<Contender, "name" | "processes" | "stores">;

/** CPU per turn of each process, in microseconds. */
export type CpuUs = Record<string, number>;

export type Figures = Omit<Measured, "turns" | "us"> & { turnsPerSecond: number; cpuUs: CpuUs };

/** Makes the load generator run a job. @throws if a turn failed or its reply was not the upstream's */
export async function measure({ stack, loadUrl }: Bench, contender: Measurable, job: Job): Promise<Figures> {
  const before = used(stack, contender);
  const response = await fetch(loadUrl, { method: "POST", body: JSON.stringify(job), timeout: false });
  if (!response.ok) throw new Error(await response.text());
  const { turns, us, ...quantiles } = (await response.json()) as Measured;
  const after = used(stack, contender);
  const cpuUs = Object.entries(after).map(([name, usedUs]) => [name, (usedUs - (before[name] ?? 0)) / turns] as const);
  return { ...quantiles, turnsPerSecond: (turns * 1e6) / us, cpuUs: Object.fromEntries(cpuUs) };
}

/** The median over the rounds of each figure. */
export function mediansOf(rounds: readonly Figures[]): Figures {
  const flat = rounds.map(({ cpuUs: _, ...figures }) => figures);
  return { ...medians(flat), cpuUs: medians(rounds.map(({ cpuUs }) => cpuUs)) };
}

/** CPU per turn of all processes of a contender, in microseconds. */
export function totalCpuUs({ cpuUs }: Figures): number {
  return Object.values(cpuUs).reduce((sum, us) => sum + us, 0);
}

/** One line for a contender that has several processes. */
export function cpuLine({ name }: { name: string }, { cpuUs }: Figures): string {
  const parts = Object.entries(cpuUs).map(([process, us]) => `${process} ${microseconds(us)}`);
  return parts.length > 1 ? `  CPU of ${name}: ${parts.join(", ")}\n` : "";
}

function used(stack: BenchStack, { name, processes, stores }: Measurable): CpuUs {
  const postgres = stores ? { Postgres: cpuUsed(stack.pids(["postgres"])) } : {};
  const redis = name === "Parley" ? { Redis: cpuUsed(stack.pids(["redis"])) } : {};
  const own = Object.entries(processes).map(([process, pid]) => [process, cpuUsed([pid])]);
  return { ...Object.fromEntries(own), ...postgres, ...redis };
}
