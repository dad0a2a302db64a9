import type { PublicAgent } from "../agents.ts";

/** The agents that the other contenders return, by id, from the file that BENCH_AGENTS names. */
export async function readAgents(): Promise<Map<string, PublicAgent>> {
  const agents = (await Bun.file(process.env.BENCH_AGENTS ?? "").json()) as PublicAgent[];
  return new Map(agents.map((agent) => [agent.id, agent]));
}
