import { runProcess } from "@parley/shared/process/run-process";
import { readPromptConfig } from "./config.ts";
import { startPrompt } from "./service.ts";

await runProcess("prompt", (log) => startPrompt(readPromptConfig(process.env), log));
