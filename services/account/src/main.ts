import { runProcess } from "@parley/shared/process/run-process";

await runProcess(
  "account",
  async (log) => {
    const { readAccountConfig } = await import("./config.ts");
    const { startAccount } = await import("./service.ts");
    return startAccount(readAccountConfig(process.env), log);
  },
  {
    reseal: async (log) => {
      const { readAccountConfig } = await import("./config.ts");
      const { resealCarriers } = await import("./carriers/reseal.ts");
      const { resealSecrets } = await import("./secrets/reseal.ts");
      const config = readAccountConfig(process.env);
      await resealCarriers(config, log);
      await resealSecrets(config, log);
    },
  },
);
