import { createHash } from "node:crypto";
import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { connectPostgres } from "@parley/shared/db/connect";
import { PROMPT } from "../../agents.ts";
import type { Run } from "../../run.ts";
import type { BenchStack } from "../../stack.ts";
import schema from "./schema.sql" with { type: "text" };

/** A server that `serveChat` makes, to be built and run as a process. */
export interface ExpressServer {
  /** Of the process, and of its database after `bench_`. */
  name: string;
  /** Path of its script. */
  entry: string;
  env: Record<string, string>;
}

export interface ExpressStack {
  url: string;
  headers: Record<string, string>;
  pid: number;
  /** @returns the agent's id */
  addAgent(model: string): Promise<string>;
}

const OWNER = "own_1";
const API_KEY = "bench";

export const EXPRESS: ExpressServer = { name: "express", entry: join(import.meta.dir, "server.ts"), env: {} };

/** Starts an Express stack with a database of its own in Parley's Postgres, on Node if installed, like Portkey. */
export async function startExpress(
  run: Run,
  stack: BenchStack,
  server: ExpressServer,
  modelUrl: string,
): Promise<ExpressStack> {
  const [port = 0] = await freePorts(1);
  const databaseUrl = await stack.addDatabase(`bench_${server.name}`);
  const sql = connectPostgres(databaseUrl, { max: 1 });
  run.onEnd(() => sql.end());
  await sql.unsafe(schema);
  await sql`insert into api_keys values (${createHash("sha256").update(API_KEY).digest()}, ${OWNER})`;
  await sql`insert into prompts values (${OWNER}, 'front-desk', ${PROMPT})`;

  const env = { ...server.env, PORT: String(port), DATABASE_URL: databaseUrl, NODE_ENV: "production" };
  const script = await build(run, server);
  const pid = run.startProgram(server.name, [Bun.which("node") ?? process.execPath, script], env);
  return {
    url: `http://127.0.0.1:${port}`,
    headers: { "X-API-Key": API_KEY },
    pid,
    addAgent: async (model) => {
      const llm = { model, baseUrl: modelUrl, apiKey: "any" };
      await sql`insert into agents values (${OWNER}, ${model}, 'front-desk', ${sql.json(llm)})`;
      return model;
    },
  };
}

/** Node 20 runs no TypeScript. @returns the script's path */
async function build(run: Run, { name, entry }: ExpressServer): Promise<string> {
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "node", external: ["pg-native"] });
  const [script] = outputs;
  if (!script) throw new Error(`${entry} could not be built`);
  const path = join(run.folder, `${name}.mjs`);
  await Bun.write(path, script);
  return path;
}
