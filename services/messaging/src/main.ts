import { runProcess } from "@parley/shared/process/run-process";
import { readMessagingConfig } from "./config.ts";
import { startMessaging } from "./service.ts";

await runProcess("messaging", (log) => startMessaging(readMessagingConfig(process.env), log));
