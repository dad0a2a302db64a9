import { parseArgs } from "node:util";
import {
  HoldTestCallRequest,
  type TestCallEnd,
  TestLine,
  type TestTurn,
  VoiceServiceService,
} from "@parley/proto/parley/voice/v1/voice_service.ts";
import { newUuid } from "@parley/shared/ids";
import { createClient, type ServiceClient } from "@parley/shared/rpc/client";
import { createAgent } from "../agents.ts";
import { table } from "../figures.ts";
import type { Run } from "../run.ts";
import { startBenchStack } from "../stack.ts";
import { GREETING, PROMPT, SCRIPTS, type Script } from "./scripts.ts";

/** A call is over within this, or its run has failed. */
const CALL_WITHIN_MS = 120_000;
const WHOLE_RUNS = 20;
const PERCENT_MAX = 1;

interface Result {
  turns: TestTurn[];
  end: TestCallEnd | undefined;
  /** Why the run fails; empty if it passes. */
  faults: string[];
}

/**
 * Runs voice scripts again and again on the stand-ins' speech and model, and counts the runs that end otherwise than most runs of their
 * script. `--scripts 5 --runs 5` makes a shorter run, `--only <words>` one of those with a name that has them.
 */
export async function benchVoiceTests(run: Run): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      scripts: { type: "string", default: String(SCRIPTS.length) },
      runs: { type: "string", default: "20" },
      only: { type: "string", default: "" },
      "at-once": { type: "string", default: "1" },
    },
  });
  const [scripts, runs, atOnce] = [values.scripts, values.runs, values["at-once"]].map(Number) as [
    number,
    number,
    number,
  ];
  if (![scripts, runs, atOnce].every((each) => Number.isInteger(each) && each >= 1 && each <= 100))
    throw new Error("--scripts, --runs and --at-once must be numbers from 1 to 100");

  console.log("starting Parley and the stand-ins");
  const stack = await startBenchStack(run);
  const agent = await createAgent(stack, {
    agent_name: "Workshop",
    prompt_content: PROMPT,
    first_message_prompt: GREETING,
    llm: {
      provider_name: "CUSTOM_LLM",
      model_name: "stand-in",
      params: { base_url: `http://${stack.address("model")}/v1`, api_key: "any" },
    },
    tools: { end_call: true },
  });
  const voice = createClient(VoiceServiceService, { peer: "voice", address: stack.address("voice") });
  run.onEnd(async () => voice.close());

  const chosen = SCRIPTS.filter(({ name }) => name.includes(values.only)).slice(0, scripts);
  const rows: string[][] = [["script", "passed", "differ", "texts", "latency p50 / max"]];
  let differing = 0;
  for (const script of chosen) {
    const results = await repeat(runs, atOnce, () =>
      hold(voice, { ownerId: stack.ownerId, agentId: agent.id }, script),
    );
    const passed = results.filter(({ faults }) => faults.length === 0).length;
    const differ = Math.min(passed, runs - passed);
    const texts = new Set(results.map(textOf));
    differing += differ;
    rows.push([script.name, `${passed}/${runs}`, String(differ), String(texts.size), latenciesOf(results)]);
    console.log(`\n${script.name}: ${passed} of ${runs} passed`);
    for (const text of texts) console.log(`  ${text}`);
    for (const fault of new Set(results.flatMap(({ faults }) => faults))) console.log(`  ! ${fault}`);
  }
  const all = chosen.length * runs;
  const percent = (100 * differing) / all;
  const isWhole = chosen.length === SCRIPTS.length && runs >= WHOLE_RUNS;
  const verdict = percent <= PERCENT_MAX ? "met" : "MISSED";
  console.log(`\n${table(rows)}`);
  console.log(`\n${differing} of ${all} runs end otherwise than most of their script: ${percent.toFixed(1)} %`);
  console.log(`Goal: at most ${PERCENT_MAX} %: ${isWhole ? verdict : "not judged by a short run"}`);
}

/** Does the work this many times, several at once. */
async function repeat<T>(times: number, atOnce: number, work: () => Promise<T>): Promise<T[]> {
  const results: T[] = [];
  let left = times;
  const worker = async () => {
    while (left-- > 0) results.push(await work());
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}

function latenciesOf(results: readonly Result[]): string {
  const sorted = results
    .flatMap(({ turns }) => turns.slice(1).flatMap(({ latencyMs }) => latencyMs ?? []))
    .toSorted((a, b) => a - b);
  return `${sorted[sorted.length >> 1] ?? "-"} / ${sorted.at(-1) ?? "-"} ms`;
}

async function hold(
  voice: ServiceClient<typeof VoiceServiceService>,
  key: { ownerId: string; agentId: string },
  script: Script,
): Promise<Result> {
  const turns: TestTurn[] = [];
  let end: TestCallEnd | undefined;
  try {
    for await (const { news } of voice.holdTestCall(requestsOf(key, script), { timeoutMs: CALL_WITHIN_MS })) {
      if (news?.$case === "turn") turns.push(news.value);
      if (news?.$case === "end") end = news.value;
    }
  } catch (error) {
    return { turns, end, faults: [String(error)] };
  }
  return { turns, end, faults: faultsOf(script, turns, end) };
}

async function* requestsOf(key: { ownerId: string; agentId: string }, { lines }: Script) {
  const start = { ...key, agentVersion: 1, conversationId: newUuid(), test: { runId: "bench" } };
  yield HoldTestCallRequest.fromPartial({ start });
  for (const { text, noise, interruptAtMs, dtmf } of lines) {
    const line = TestLine.fromPartial({ text, noise, interruptAtMs, dtmf } as Partial<TestLine>);
    yield HoldTestCallRequest.fromPartial({ step: { $case: "line", value: line } });
  }
}

function faultsOf(script: Script, turns: readonly TestTurn[], end: TestCallEnd | undefined): string[] {
  const faults = script.lines.flatMap(({ text, recognized, heard }, at) => {
    const turn = turns[at + 1];
    if (!turn) return [`no answer to "${text}"`];
    const wrong = [];
    if (recognized && !recognized.test(turn.recognized)) wrong.push(`recognized "${turn.recognized}" of "${text}"`);
    if (heard && !heard.test(turn.heard)) wrong.push(`heard "${turn.heard}" after "${text}"`);
    return wrong;
  });
  const by = script.agentEnds ? "agent" : "user";
  if (end?.endedBy !== by) faults.push(`ended by ${end?.endedBy}: ${end?.reason}`);
  return faults;
}

function textOf({ turns, end }: Result): string {
  return `${turns.map(({ recognized, heard }) => `${recognized} → ${heard}`).join(" | ")} (${end?.endedBy})`;
}
