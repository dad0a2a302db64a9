import { runProcess } from "@parley/shared/process/run-process";
import { readVoiceConfig } from "./config.ts";
import { startVoice } from "./service.ts";

await runProcess("voice", (log) => startVoice(readVoiceConfig(process.env), log));
