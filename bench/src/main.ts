/** `bun run bench <name>`: runs one benchmark, and starts and ends everything that it needs. */
import { onStop } from "@parley/dev/processes/stop-signals.ts";
import { benchChat } from "./chat/benchmark.ts";
import { benchDashboard } from "./dashboard/benchmark.ts";
import { benchGateway } from "./gateway/benchmark.ts";
import { benchKnowledge } from "./knowledge/benchmark.ts";
import { benchLists } from "./lists/benchmark.ts";
import { benchNeighbours } from "./neighbours/benchmark.ts";
import { benchReplays } from "./replays/benchmark.ts";
import { openRun, type Run } from "./run.ts";
import { benchVoice } from "./voice/benchmark.ts";
import { benchVoiceTests } from "./voice-tests/benchmark.ts";
import { benchWebhooks } from "./webhooks/benchmark.ts";

const BENCHMARKS: Readonly<Record<string, (run: Run) => Promise<void>>> = {
  gateway: benchGateway,
  chat: benchChat,
  dashboard: benchDashboard,
  lists: benchLists,
  knowledge: benchKnowledge,
  neighbours: benchNeighbours,
  replays: benchReplays,
  voice: benchVoice,
  "voice-tests": benchVoiceTests,
  webhooks: benchWebhooks,
};
const INTERRUPTED = 130;

const [name = ""] = process.argv.slice(2);
const benchmark = Object.hasOwn(BENCHMARKS, name) ? BENCHMARKS[name] : undefined;
if (!benchmark) {
  console.error(`Say which benchmark to run: bun run bench ${Object.keys(BENCHMARKS).join(" | ")}`);
  process.exit(2);
}

let code = 0;
const run = await openRun();
onStop(async () => {
  code = INTERRUPTED;
  await run.end();
  process.exit(code);
});
try {
  await benchmark(run);
} catch (error) {
  // After an interrupt, the benchmark fails only because its processes have ended.
  if (code !== INTERRUPTED) console.error(error instanceof Error ? error.message : error);
  code ||= 1;
} finally {
  await run.end();
}
process.exit(code);
