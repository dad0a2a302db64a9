import { createHash } from "node:crypto";
import { join } from "node:path";
import { connectPostgres } from "@parley/shared/db/connect";
import { PROMPT } from "../../agents.ts";
import type { Run } from "../../run.ts";
import type { BenchStack } from "../../stack.ts";
import schema from "./schema.sql" with { type: "text" };

export interface ExpressStack {
  url: string;
  headers: Record<string, string>;
  pid: number;
  /** @returns the agent's id */
  addAgent(model: string): Promise<string>;
}

const OWNER = "own_1";
const API_KEY = "bench";

/** Starts the Express stack with a database of its own in Parley's Postgres, on Node if installed, like Portkey. */
export async function startExpress(run: Run, stack: BenchStack, port: number, modelUrl: string): Promise<ExpressStack> {
  const databaseUrl = await stack.addDatabase("bench_express");
  const sql = connectPostgres(databaseUrl, { max: 1 });
  run.onEnd(() => sql.end());
  await sql.unsafe(schema);
  await sql`insert into api_keys values (${createHash("sha256").update(API_KEY).digest()}, ${OWNER})`;
  await sql`insert into prompts values (${OWNER}, 'front-desk', ${PROMPT})`;

  const env = { PORT: String(port), DATABASE_URL: databaseUrl, NODE_ENV: "production" };
  const pid = run.startProgram("express", [Bun.which("node") ?? process.execPath, await build(run)], env);
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
async function build(run: Run): Promise<string> {
  const entry = join(import.meta.dir, "server.ts");
  const { outputs } = await Bun.build({ entrypoints: [entry], target: "node", external: ["pg-native"] });
  const [script] = outputs;
  if (!script) throw new Error(`${entry} could not be built`);
  const path = join(run.folder, "express.mjs");
  await Bun.write(path, script);
  return path;
}
