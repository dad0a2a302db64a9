import { runProcess } from "@parley/shared/process/run-process";

await runProcess(
  "webhook-dispatcher",
  async (log) => {
    const { readDispatcherConfig } = await import("./config.ts");
    const { startDispatcher } = await import("./service.ts");
    return startDispatcher(readDispatcherConfig(process.env), log);
  },
  {
    reseal: async (log) => {
      const { readDispatcherConfig } = await import("./config.ts");
      const { resealDestinations } = await import("./reseal.ts");
      const config = readDispatcherConfig(process.env);
      await resealDestinations(config, log);
    },
  },
);
