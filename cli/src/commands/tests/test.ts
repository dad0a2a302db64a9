import { accessSync, constants, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { ConfigError } from "@parley/shared/config";
import { ServiceError } from "@parley/shared/errors";
import { type Command, InvalidArgumentError } from "commander";
import type { Environment } from "../../connection.ts";
import { Exit } from "../../exit.ts";
import { explain } from "../../explain.ts";
import { examples, parseNumber, repeatableOption, verb } from "../../options.ts";
import { formatTable, print, visible } from "../../print.ts";
import { type PublicApi, plainApi } from "../../public-api.ts";
import { junitOf } from "./junit.ts";
import { faultsOf, hasFailed, type Run } from "./run-shape.ts";

interface RunOptions {
  version?: number | "published" | "latest";
  test?: string[];
  maxCostUsd?: number;
  allowUnpriced?: boolean;
  junit?: string;
  json?: boolean;
}

export function addTestCommands(program: Command, env: Environment): void {
  const test = program
    .command("test")
    .description("Run the tests of agents, with the key in PARLEY_API_KEY")
    .addHelpText("after", examples(program, "test run agt_…", "test run agt_… --version 12 --junit results.xml"));

  verb(test, "list")
    .description("List the tests of an agent")
    .argument("<agent_id>", "The agent, agt_…")
    .action(async (agentId: string, { json }: RunOptions) => {
      const list = await plainApi(env).get<{ tests: Record<string, string>[] }>(`${pathOf(agentId)}/tests`);
      const columns = ["test_id", "name", "required", "kind", "channel"];
      await print(json, list, list.tests.length > 0 ? formatTable(columns, list.tests) : "The agent has no tests.");
    });

  verb(test, "run")
    .description(
      "Run the tests of an agent and wait: exits 0 if all pass, 1 if one fails, 2 if none fails but one cannot run",
    )
    .argument("<agent_id>", "The agent, agt_…")
    .option("--version <version>", "Version to test: a number, published or latest", parseVersion, "latest")
    .addOption(repeatableOption("--test <test>", "Only this test, by ID or name; may be repeated"))
    .option("--max-cost-usd <dollars>", "Stop once the models have cost as much", parseNumber)
    .option("--allow-unpriced", "With --max-cost-usd: run although the price of a model is not known")
    .option("--junit <file>", "Write the results to this file as JUnit XML")
    .addHelpText("after", examples(program, 'test run agt_… --version 12 --test "Looks up an order" --max-cost-usd 1'))
    .action(async (agentId: string, options: RunOptions) => {
      const { junit } = options;
      // A run costs money, so it does not begin if its results would be lost.
      if (junit !== undefined) writing(junit, () => accessSync(dirname(junit), constants.W_OK));
      const run = await runToEnd(env, agentId, options).catch(cannotRun);
      await print(options.json, run, summaryOf(run));
      if (junit !== undefined) writing(junit, () => writeFileSync(junit, junitOf(run)));
      if (run.status === "CANCELLED") throw new Exit(CANNOT_RUN, "The run was cancelled");
      if (run.status !== "PASSED") throw new Exit(hasFailed(run) ? NOT_PASSED : CANNOT_RUN);
    });
}

const NOT_PASSED = 1;
const CANNOT_RUN = 2;

async function runToEnd(env: Environment, agentId: string, options: RunOptions): Promise<Run> {
  const api = plainApi(env);
  const { version, test, maxCostUsd, allowUnpriced } = options;
  const run = await api.post<Run>(`${pathOf(agentId)}/tests/run`, {
    agent_version: version,
    ...(test && { tests: test }),
    ...(maxCostUsd !== undefined && { max_cost_usd: maxCostUsd }),
    ...(allowUnpriced && { unpriced: "allow" }),
  });
  const path = `${pathOf(agentId)}/tests/runs/${run.run_id}`;
  const lost = Promise.withResolvers<never>();
  let isCancelled = false;
  // Nobody would see how the run ends, and it goes on costing money. Ctrl-C arrives twice through `bun run`.
  const cancel = () => {
    if (!isCancelled) api.post(`${path}/cancel`).catch(lost.reject);
    isCancelled = true;
  };
  for (const signal of STOPPING) process.on(signal, cancel);
  try {
    return await Promise.race([ended(api, `${path}/events`), lost.promise]);
  } finally {
    for (const signal of STOPPING) process.off(signal, cancel);
  }
}

/** Of Ctrl-C, and of continuous integration that cancels a job. */
const STOPPING = ["SIGINT", "SIGTERM"] as const;
const RECONNECT_MS = 1_000;
/** In a row. */
const RECONNECTS_MAX = 60;

/** Waits for the end of a run, also when the gateway that tells of it is replaced. */
async function ended(api: PublicApi, path: string): Promise<Run> {
  for (let failures = 0; ; ) {
    try {
      for await (const { event, data } of api.events(path)) {
        if (event === "ended") return data as Run;
        failures = 0;
      }
    } catch (error) {
      const isAway = error instanceof ServiceError && error.kind === "unavailable";
      if (!isAway || ++failures > RECONNECTS_MAX) throw error;
    }
    await Bun.sleep(RECONNECT_MS);
  }
}

/** Whoever reads the status can tell an agent that fails from a stack that does. */
function cannotRun(error: unknown): never {
  if (error instanceof ServiceError) throw new Exit(CANNOT_RUN, explain(error));
  if (error instanceof ConfigError) throw new Exit(CANNOT_RUN, error.message);
  throw error;
}

function writing(file: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    throw new Exit(CANNOT_RUN, `Could not write ${file}: ${(error as Error).message}`);
  }
}

function summaryOf(run: Run): string {
  const lines = run.results.flatMap((result) => [
    `${result.passed === true ? "pass" : "FAIL"}  ${visible(result.name)} (${result.passes} of ${result.attempts.length})`,
    ...(result.passed === true ? [] : faultsOf(result).map((fault) => `      ${visible(fault)}`)),
  ]);
  const passed = run.results.filter((result) => result.passed === true).length;
  const cost = run.cost_usd.toLocaleString("en", { minimumFractionDigits: 2, maximumFractionDigits: 6 });
  const total = `${run.status}: ${passed} of ${run.results.length} tests passed for version ${run.agent_version}, ${cost} USD, ${run.run_id}`;
  return [...lines, ...(run.error === null ? [] : [visible(run.error)]), total].join("\n");
}

function parseVersion(text: string): number | "published" | "latest" {
  if (text === "published" || text === "latest") return text;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError("It must be a number, published or latest.");
  return Number(text);
}

function pathOf(agentId: string): string {
  return `/agents/${encodeURIComponent(agentId)}`;
}
