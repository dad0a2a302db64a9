import { runProcess } from "@parley/shared/process";
import { readDispatcherConfig } from "./config.ts";
import { startDispatcher } from "./service.ts";

await runProcess("webhook-dispatcher", (log) => startDispatcher(readDispatcherConfig(process.env), log));
