import { freePorts } from "@parley/deploy/src/stack/ports.ts";
import { createAgent } from "../agents.ts";
import type { Run } from "../run.ts";
import { type BenchStack, startBenchStack } from "../stack.ts";
import { MODEL } from "./reply.ts";
import type { Target } from "./sessions.ts";

export interface Contender {
  name: string;
  target: Target;
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
  const [port = 0] = await freePorts(1);
  run.start("chat/upstream.ts", { PORT: String(port) });
  const upstream = `http://127.0.0.1:${port}`;
  const stack = await startBenchStack(run, { PARLEY_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}` });
  const params = { base_url: `${upstream}/v1`, api_key: "any" };
  const agent = await createAgent(stack, {
    agent_name: "Front desk",
    llm: { provider_name: "CUSTOM_LLM", model_name: MODEL, params },
  });
  return {
    stack,
    contenders: [
      { name: "the upstream itself", target: { protocol: "openai", url: upstream, headers: {} }, pids: [] },
      {
        name: "Parley",
        target: { protocol: "parley", url: stack.url, headers: { "X-API-Key": stack.apiKey }, agentId: agent.id },
        pids: stack.pids(["gateway", "account", "agent", "prompt", "conversation"]),
      },
    ],
  };
}
