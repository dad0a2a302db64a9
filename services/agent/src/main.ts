import { runProcess } from "@parley/shared/process/run-process";
import { readAgentConfig } from "./config.ts";
import { resealAgents } from "./model-keys/reseal.ts";
import { startAgent } from "./service.ts";
import { resealTools } from "./tools/reseal.ts";

await runProcess("agent", (log) => startAgent(readAgentConfig(process.env), log), {
  reseal: async (log) => {
    const config = readAgentConfig(process.env);
    await resealTools(config, log);
    await resealAgents(config, log);
  },
});
