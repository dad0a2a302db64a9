import { parseArgs } from "node:util";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { eventually } from "@parley/testkit/eventually";
import { table } from "../figures.ts";
import type { Run } from "../run.ts";
import { startField } from "./contenders.ts";
import { type Goal, goalsOf, type Results } from "./goals.ts";
import { type Bench, measure } from "./measure.ts";
import { benchStreams } from "./streams.ts";
import { benchTools } from "./tools/benchmark.ts";
import { benchTurns, WAY_NAMES } from "./turns.ts";

const PARTS = ["turns", "streams", "memory", "tools"];
const STARTS_WITHIN_MS = 20_000;
/** Limit for the concurrent `fetch` requests of a process, which is 256 by default. */
const REQUESTS_MAX = "2000";
/** The pace to which the goals for streams apply. */
const GOALS_WORD_MS = 20;

/**
 * Measures chat turns through all of Parley against direct calls of the model's API, a plain proxy and an Express stack, and turns with a
 * tool call against the AI SDK. `--only turns`, `--only streams` or `--only tools` runs one part, and `--only memory` the streams through
 * Parley alone. `--ways REGEX` and `--contenders REGEX` select ways and contenders of the turns and streams; `--rounds N`, `--streams N` and
 * `--seconds N` set the amount of load. With `--word 60`, a stream's words come every 60 ms instead of 20, and with `--every N`, its client
 * begins a turn every N seconds, so that all contenders have the same load, which the goals are not for.
 */
export async function benchChat(run: Run): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      only: { type: "string" },
      ways: { type: "string", default: "" },
      contenders: { type: "string", default: "" },
      rounds: { type: "string", default: "3" },
      streams: { type: "string", default: "500" },
      seconds: { type: "string", default: "10" },
      word: { type: "string", default: String(GOALS_WORD_MS) },
      every: { type: "string", default: "0" },
    },
  });
  const { only } = values;
  if (only !== undefined && !PARTS.includes(only)) throw new Error(`--only takes ${PARTS.join(", ")}, not ${only}`);
  console.log("starting Parley, Portkey, Express and the mock upstream");
  const field = await startField(run);
  const wanted = new RegExp(only === "memory" || only === "tools" ? "Parley" : `upstream|${values.contenders}`);
  const contenders = field.contenders.filter(({ name }) => wanted.test(name));
  const bench: Bench = { ...field, contenders, loadUrl: await startLoad(run) };
  for (const contender of contenders) {
    const job = {
      target: contender.targets.bench,
      streamed: false,
      turnsPerSession: 1,
      connections: 1,
      rampMs: 0,
      everyMs: 0,
    };
    await eventually(() => measure(bench, contender, { ...job, seconds: 0.1 }), STARTS_WITHIN_MS);
  }

  const rounds = Number(values.rounds);
  const streams = {
    streams: Number(values.streams),
    seconds: Number(values.seconds),
    wordMs: Number(values.word),
    everyMs: Number(values.every) * 1000,
  };
  const results: Results = { turns: {}, streams: {} };
  if (only === undefined || only === "turns") {
    const ways = WAY_NAMES.filter((name) => new RegExp(values.ways).test(name));
    for (const name of ways) results.turns[name] = await benchTurns(bench, name, rounds);
  }
  if (only === "memory") await benchStreams(bench, { ...streams, rounds: 1 });
  else if (only === undefined || only === "streams") {
    const measured = await benchStreams(bench, { ...streams, rounds });
    if (streams.everyMs === 0 && streams.wordMs === GOALS_WORD_MS) results.streams = measured;
  }
  if (only === undefined || only === "tools") await benchTools(run, { ...bench, contenders: field.contenders }, rounds);
  const goals = goalsOf(results);
  if (goals.length > 0) console.log(`\n${goalsTable(goals)}`);
}

async function startLoad(run: Run): Promise<string> {
  const [port = 0] = await freePorts(1);
  run.start("chat/load.ts", { PORT: String(port), BUN_CONFIG_MAX_HTTP_REQUESTS: REQUESTS_MAX });
  return `http://127.0.0.1:${port}`;
}

function goalsTable(goals: readonly Goal[]): string {
  const rows = goals.map(({ name, measured, wanted, met }) => [name, measured, wanted, met ? "met" : "MISSED"]);
  return table([["Goals", "measured", "wanted", ""], ...rows]);
}
