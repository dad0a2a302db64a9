import { join } from "node:path";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { cpuUsed } from "../cpu.ts";
import { memoryUsed } from "../memory.ts";
import type { Run } from "../run.ts";
import type { BenchStack, ProcessName } from "../stack.ts";
import type { LoadFigures } from "./load.ts";

export interface Job {
  stack: BenchStack;
  agentId: string;
  /** Path of the question. */
  question: string;
}

export interface Amount {
  calls: number;
  seconds: number;
}

/** CPU in seconds for each minute of a call, and memory in bytes for each call, of the process that holds it and of all. */
export interface CallFigures extends LoadFigures {
  cpu: { own: number; all: number };
  memory: number;
}

const OTHERS = ["conversation", "agent", "prompt", "account", "gateway", "postgres", "redis"] as const;
/** Time beyond the measurement: starting the calls one after the other, warm-up and hanging up. */
const EXTRA_MS = 60_000;

export async function measureCalls(
  { stack, agentId, question }: Job,
  { calls, seconds }: Amount,
): Promise<CallFigures> {
  const own = stack.pids(["voice"]);
  const all = stack.pids(["voice", ...OTHERS] satisfies ProcessName[]);
  const before = memoryUsed(own);
  const load = startLoad({ SERVER: stack.sipAddress, CALLEE: agentId, QUESTION: question }, { calls, seconds });
  return measured(load, { calls, seconds }, own, all, before);
}

/** The same for the bare echo. */
export async function measureEcho(run: Run, { question }: Job, { calls, seconds }: Amount): Promise<CallFigures> {
  const [port = 0] = await freePorts(1);
  // Ends with the run, and does nothing once there are no calls.
  const pid = run.start("voice/bare.ts", { PORT: String(port) });
  await Bun.sleep(STARTED_MS);
  const load = startLoad({ ECHO: String(port), QUESTION: question }, { calls, seconds });
  return measured(load, { calls, seconds }, [pid], [pid], memoryUsed([pid]));
}

const STARTED_MS = 500;

function startLoad(env: Record<string, string>, { calls, seconds }: Amount) {
  return Bun.spawn([process.execPath, "--no-env-file", join(import.meta.dir, "load.ts")], {
    env: { ...env, CALLS: String(calls), SECONDS: String(seconds) },
    stdio: ["ignore", "pipe", "inherit"],
    timeout: seconds * 1_000 + EXTRA_MS,
  });
}

/** Counts what is used between the load's first line, when all calls talk, and its second, which has its figures. */
async function measured(
  load: ReturnType<typeof startLoad>,
  { calls, seconds }: Amount,
  own: readonly number[],
  all: readonly number[],
  memoryBefore: number,
): Promise<CallFigures> {
  const lines = linesOf(load.stdout);
  const begun = await lines.next();
  const cpuBefore = { own: cpuUsed(own), all: cpuUsed(all) };
  const figures = JSON.parse(begun.value ?? "null") && JSON.parse((await lines.next()).value ?? "null");
  if (!figures || figures.error) throw new Error(`The callers failed: ${figures?.error ?? "they ended early"}`);
  const callMinutes = (calls * seconds) / 60;
  const cpuOf = (pids: readonly number[], before: number) => (cpuUsed(pids) - before) / 1_000_000 / callMinutes;
  const cpu = { own: cpuOf(own, cpuBefore.own), all: cpuOf(all, cpuBefore.all) };
  const memory = (memoryUsed(own) - memoryBefore) / calls;
  await load.exited;
  return { ...(figures as LoadFigures), cpu, memory };
}

async function* linesOf(stream: ReadableStream<Uint8Array>): AsyncGenerator<string, undefined> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const bytes of stream) {
    const lines = (text + decoder.decode(bytes, { stream: true })).split("\n");
    text = lines.pop() ?? "";
    yield* lines;
  }
}
