import { dirname, join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { createAgent } from "../agents.ts";
import type { Run } from "../run.ts";
import { type BenchStack, startBenchStack } from "../stack.ts";
import { MODEL, PACED_MODEL } from "./reply.ts";
import type { Target } from "./sessions.ts";

export interface Contender {
  name: string;
  /** Whose model answers at once. */
  target: Target;
  /** Whose model says a word every 20 ms. */
  paced: Target;
  /** The processes whose CPU is its own; Postgres serves one, the upstream all. */
  pids: readonly number[];
}

export interface Field {
  stack: BenchStack;
  /** The first is the upstream itself: what the others add is told against it. */
  contenders: Contender[];
}

/** Starts the upstream and whoever stands before it. */
export async function startField(run: Run): Promise<Field> {
  const [port = 0, portkeyPort = 0] = await freePorts(2);
  run.start("chat/upstream.ts", { PORT: String(port) });
  const upstream = `http://127.0.0.1:${port}`;
  const stack = await startBenchStack(run, { PARLEY_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}` });
  const parley = async (model: string): Promise<Target> => {
    const params = { base_url: `${upstream}/v1`, api_key: "any" };
    const llm = { provider_name: "CUSTOM_LLM", model_name: model, params };
    const { id } = await createAgent(stack, { agent_name: `Front desk ${model}`, llm });
    return { protocol: "parley", url: stack.url, headers: { "X-API-Key": stack.apiKey }, agentId: id };
  };
  const openai = (url: string, headers: Record<string, string>) => ({
    target: { protocol: "openai", url, headers, model: MODEL } as const,
    paced: { protocol: "openai", url, headers, model: PACED_MODEL } as const,
  });
  return {
    stack,
    contenders: [
      { name: "the upstream itself", ...openai(upstream, {}), pids: [] },
      {
        name: "Portkey",
        ...openai(`http://127.0.0.1:${portkeyPort}`, {
          Authorization: "Bearer any",
          "x-portkey-provider": "openai",
          "x-portkey-custom-host": `${upstream}/v1`,
        }),
        pids: [startPortkey(run, portkeyPort)],
      },
      {
        name: "Parley",
        target: await parley(MODEL),
        paced: await parley(PACED_MODEL),
        pids: stack.pids(["gateway", "account", "agent", "prompt", "conversation"]),
      },
    ],
  };
}

/** A plain proxy, on Node where there is one: it is made for that. @returns its pid */
function startPortkey(run: Run, port: number): number {
  const folder = dirname(Bun.resolveSync("@portkey-ai/gateway/package.json", import.meta.dir));
  const script = join(folder, "build/start-server.js");
  return run.startProgram(
    "portkey",
    [Bun.which("node") ?? process.execPath, script, `--port=${port}`, "--headless"],
    {},
  );
}
