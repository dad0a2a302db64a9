import { dirname, join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { createAgent } from "../agents.ts";
import type { Run } from "../run.ts";
import { type BenchStack, type ProcessName, startBenchStack } from "../stack.ts";
import { EXPRESS, startExpress } from "./express/start.ts";
import { MODELS, type Model } from "./reply.ts";
import type { Target } from "./sessions.ts";

export type ContenderName = "upstream" | "Portkey" | "Express" | "AI SDK" | "Parley";

export interface Contender {
  name: ContenderName;
  targets: Record<Model, Target>;
  /** The processes whose CPU and memory are counted as its own, by their names in the figures. */
  processes: Readonly<Record<string, number>>;
  /** Whether it uses Postgres. Only Parley uses Redis. */
  stores: boolean;
}

export interface Field {
  stack: BenchStack;
  /** The first is the upstream itself, called directly; the others' overhead is relative to it. */
  contenders: Contender[];
  upstreamUrl: string;
  /** The server that the tool of a turn with a tool call asks. */
  ordersUrl: string;
}

const PARLEY_PROCESSES = ["gateway", "conversation", "agent", "prompt", "account"] as const satisfies ProcessName[];

/** Starts the upstream and every contender in front of it. */
export async function startField(run: Run): Promise<Field> {
  const [port = 0, portkeyPort = 0, ordersPort = 0] = await freePorts(3);
  run.start("chat/upstream.ts", { PORT: String(port) });
  const upstream = `http://127.0.0.1:${port}`;
  run.start("chat/tools/orders.ts", { PORT: String(ordersPort) });
  const stack = await startBenchStack(run, {
    PARLEY_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port},127.0.0.1:${ordersPort}`,
  });

  const direct = (model: Model): Target => ({ protocol: "openai", url: upstream, headers: {}, model });
  const portkey = (model: Model): Target => ({
    protocol: "openai",
    url: `http://127.0.0.1:${portkeyPort}`,
    headers: {
      Authorization: "Bearer any",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${upstream}/v1`,
    },
    model,
  });
  const { url, headers, pid, addAgent } = await startExpress(run, stack, EXPRESS, `${upstream}/v1`);
  const express = async (model: Model): Promise<Target> => {
    return { protocol: "parley", url, headers, agentId: await addAgent(model) };
  };
  const parley = async (model: Model): Promise<Target> => {
    const params = { base_url: `${upstream}/v1`, api_key: "any" };
    const llm = { provider_name: "CUSTOM_LLM", model_name: model, params };
    const { id } = await createAgent(stack, { agent_name: `Front desk ${model}`, llm });
    return { protocol: "parley", url: stack.url, headers: { "X-API-Key": stack.apiKey }, agentId: id };
  };

  const pids = stack.pids(PARLEY_PROCESSES);
  const parleyProcesses = Object.fromEntries(PARLEY_PROCESSES.map((name, at) => [name, pids[at] ?? 0]));
  return {
    stack,
    upstreamUrl: upstream,
    ordersUrl: `http://127.0.0.1:${ordersPort}`,
    contenders: [
      { name: "upstream", targets: await targets(direct), processes: {}, stores: false },
      {
        name: "Portkey",
        targets: await targets(portkey),
        processes: { Portkey: startPortkey(run, portkeyPort) },
        stores: false,
      },
      { name: "Express", targets: await targets(express), processes: { Express: pid }, stores: true },
      { name: "Parley", targets: await targets(parley), processes: parleyProcesses, stores: true },
    ],
  };
}

async function targets(of: (model: Model) => Target | Promise<Target>): Promise<Record<Model, Target>> {
  const entries = await Promise.all(MODELS.map(async (model) => [model, await of(model)] as const));
  return Object.fromEntries(entries) as Record<Model, Target>;
}

/** Starts a plain proxy, on Node if installed, which it is made for. @returns its pid */
function startPortkey(run: Run, port: number): number {
  const folder = dirname(Bun.resolveSync("@portkey-ai/gateway/package.json", import.meta.dir));
  const script = join(folder, "build/start-server.js");
  return run.startProgram(
    "portkey",
    [Bun.which("node") ?? process.execPath, script, `--port=${port}`, "--headless"],
    {},
  );
}
