import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import type { PublicAgent } from "../agents.ts";
import type { Run } from "../run.ts";
import type { BenchStack } from "../stack.ts";

export interface Contender {
  name: string;
  url: string;
  /** The processes whose CPU is counted as its own; Postgres and Redis serve several contenders. */
  pids: readonly number[];
}

/** Starts all contenders with the same agents. Parley comes first. */
export async function startContenders(
  run: Run,
  stack: BenchStack,
  agents: readonly PublicAgent[],
): Promise<Contender[]> {
  const file = join(run.folder, "agents.json");
  await Bun.write(file, JSON.stringify(agents));
  const [barePort = 0, hopPort = 0, echoPort = 0, monolithPort = 0] = await freePorts(4);

  const start = (script: string, port: number, env: Record<string, string> = {}) =>
    run.start(`gateway/${script}`, { PORT: String(port), BENCH_AGENTS: file, ...env });
  const bare = start("bare.ts", barePort);
  const echo = start("echo-server.ts", echoPort);
  const hop = start("one-hop.ts", hopPort, { ECHO_PORT: String(echoPort) });
  const monolith = start("monolith/main.ts", monolithPort, {
    DATABASE_URL: await stack.addDatabase("bench_monolith"),
    REDIS_URL: stack.redisUrl,
    BENCH_API_KEY: stack.apiKey,
  });

  const at = (port: number) => `http://127.0.0.1:${port}`;
  return [
    { name: "Parley", url: stack.url, pids: stack.pids(["gateway", "account", "agent", "prompt"]) },
    { name: "(a) bare Elysia", url: at(barePort), pids: [bare] },
    { name: "(b) Elysia, one gRPC echo", url: at(hopPort), pids: [hop, echo] },
    { name: "(c) monolith", url: at(monolithPort), pids: [monolith] },
  ];
}
