import { runProcess } from "@parley/shared/process";
import { readAccountConfig } from "./config.ts";
import { startAccount } from "./service.ts";

await runProcess("account", (log) => startAccount(readAccountConfig(process.env), log));
