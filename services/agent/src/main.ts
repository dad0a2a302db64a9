import { runProcess } from "@parley/shared/process/run-process";

await runProcess(
  "agent",
  async (log) => {
    const { readAgentConfig } = await import("./config.ts");
    const { startAgent } = await import("./service.ts");
    return startAgent(readAgentConfig(process.env), log);
  },
  {
    reseal: async (log) => {
      const { readAgentConfig } = await import("./config.ts");
      const { resealTools } = await import("./tools/reseal.ts");
      const { resealAgents } = await import("./model-keys/reseal.ts");
      const config = readAgentConfig(process.env);
      await resealTools(config, log);
      await resealAgents(config, log);
    },
  },
);
