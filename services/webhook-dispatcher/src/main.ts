import { runProcess } from "@parley/shared/process/run-process";
import { readDispatcherConfig } from "./config.ts";
import { resealDestinations } from "./reseal.ts";
import { startDispatcher } from "./service.ts";

await runProcess("webhook-dispatcher", (log) => startDispatcher(readDispatcherConfig(process.env), log), {
  reseal: (log) => resealDestinations(readDispatcherConfig(process.env), log),
});
