import { runProcess } from "@parley/shared/process/run-process";
import { resealCarriers } from "./carriers/reseal.ts";
import { readAccountConfig } from "./config.ts";
import { resealSecrets } from "./secrets/reseal.ts";
import { startAccount } from "./service.ts";

await runProcess("account", (log) => startAccount(readAccountConfig(process.env), log), {
  reseal: async (log) => {
    const config = readAccountConfig(process.env);
    await resealCarriers(config, log);
    await resealSecrets(config, log);
  },
});
