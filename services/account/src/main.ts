import { runProcess } from "@parley/shared/process/run-process";
import { resealCarriers } from "./carriers/reseal.ts";
import { readAccountConfig } from "./config.ts";
import { startAccount } from "./service.ts";

await runProcess("account", (log) => startAccount(readAccountConfig(process.env), log), {
  reseal: (log) => resealCarriers(readAccountConfig(process.env), log),
});
