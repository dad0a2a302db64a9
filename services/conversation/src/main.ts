import { runProcess } from "@parley/shared/process/run-process";
import { readConversationConfig } from "./config.ts";
import { startConversation } from "./service.ts";

await runProcess("conversation", (log) => startConversation(readConversationConfig(process.env), log));
