import { runProcess } from "@parley/shared/process/run-process";
import { readKnowledgeConfig } from "./config.ts";
import { startKnowledge } from "./service.ts";

await runProcess("knowledge", (log) => startKnowledge(readKnowledgeConfig(process.env), log));
