import { runProcess } from "@parley/shared/process/run-process";
import { readAgentConfig } from "./config.ts";
import { resealAgents } from "./model-keys/reseal.ts";
import { startAgent } from "./service.ts";

await runProcess("agent", (log) => startAgent(readAgentConfig(process.env), log), {
  reseal: (log) => resealAgents(readAgentConfig(process.env), log),
});
