import { join } from "node:path";
import { parseArgs } from "node:util";
import { freePorts } from "@parley/dev/processes/ports.ts";
import { readWav } from "@parley/dev/stand-ins/speech/wav.ts";
import { muLaw } from "@parley/shared/media/g711";
import { resampler } from "@parley/shared/media/resample";
import { eventually } from "@parley/testkit/eventually";
import { spokenSentence } from "@parley/tests/kit/calls/spoken-sentence.ts";
import { createAgent } from "../agents.ts";
import { table } from "../figures.ts";
import type { Run } from "../run.ts";
import { type BenchStack, startBenchStack } from "../stack.ts";
import { QUESTION } from "./delays.ts";
import { goalsOf } from "./goals.ts";
import { measureCalls, measureEcho } from "./measure.ts";
import { reportOf } from "./report.ts";

const CALLS = [1, 10, 50, 100];
const WARM_UP = { calls: 4, seconds: 8 };
const RTP_PORTS = "30000-30999";
const STARTS_WITHIN_MS = 20_000;

/**
 * Holds real calls by SIP and RTP with providers that take fixed times, and measures at the wire what a caller waits for beyond them:
 * from voice to voice, the pace of the agent's audio, and how soon it stops when it is spoken over. A bare echo in the same run is
 * the floor. `--calls 1,10` and `--seconds N` make a shorter run.
 */
export async function benchVoice(run: Run): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: { calls: { type: "string", default: CALLS.join() }, seconds: { type: "string", default: "30" } },
  });
  const seconds = Number(values.seconds);
  const numbers = values.calls.split(",").map(Number);
  if (!(seconds >= 5) || !numbers.every((calls) => Number.isInteger(calls) && calls >= 1 && calls <= 200))
    throw new Error("--seconds must be at least 5, and --calls numbers from 1 to 200, such as 1,50");

  console.log("starting Parley and the mock providers");
  const [port = 0] = await freePorts(1);
  run.start("voice/providers.ts", { PORT: String(port) });
  const providers = `http://127.0.0.1:${port}`;
  const stack = await startBenchStack(run, {
    PARLEY_ALLOWED_PRIVATE_HOSTS: `127.0.0.1:${port}`,
    DEEPGRAM_API_KEY: "any",
    DEEPGRAM_BASE_URL: providers,
    PARLEY_CALLS_CONCURRENT_MAX: "1000",
    PARLEY_RTP_PORTS: RTP_PORTS,
  });
  await eventually(() => fetch(providers), STARTS_WITHIN_MS);
  const agent = await createAgent(stack, {
    agent_name: "Front desk",
    llm: { provider_name: "CUSTOM_LLM", model_name: "bench", params: { base_url: `${providers}/v1`, api_key: "any" } },
    stt: { provider_name: "DEEPGRAM", model_name: "nova-3" },
    tts: { provider_name: "DEEPGRAM", voice_id: "aura-2-thalia-en" },
  });
  const question = join(run.folder, "question.ulaw");
  await Bun.write(question, await spokenQuestion(stack));

  const job = { stack, agentId: agent.id, question };
  await measureCalls(job, WARM_UP);
  const rounds = [];
  for (const calls of numbers) {
    const echo = await measureEcho(run, job, { calls, seconds: Math.ceil(seconds / 3) });
    const parley = await measureCalls(job, { calls, seconds });
    rounds.push({ calls, echo, parley });
    console.log(`\n${reportOf(rounds)}`);
  }
  const goals = goalsOf(rounds).map(({ name, measured, wanted, met }) => [
    name,
    measured,
    wanted,
    met ? "met" : "MISSED",
  ]);
  if (goals.length > 0) console.log(`\n${table([["Goals", "measured", "wanted", ""], ...goals])}`);
}

/** As telephones send it, cut to where the voice begins and ends. */
async function spokenQuestion(stack: BenchStack): Promise<Uint8Array> {
  const file = await spokenSentence(`http://${stack.address("speech")}/v1`, QUESTION, {
    beforeSeconds: 0,
    afterSeconds: 0,
  });
  const spoken = resampler(16_000, HZ)(readWav(file) ?? new Int16Array());
  const isLoud = (sample: number) => Math.abs(sample) > LOUD;
  const voice = spoken.subarray(CLICK_SAMPLES);
  return muLaw.encode(voice.subarray(voice.findIndex(isLoud), voice.findLastIndex(isLoud)));
}

const HZ = 8_000;
const LOUD = 3_000;
/** flite begins with a click. */
const CLICK_SAMPLES = HZ / 10;
