import { runProcess } from "@parley/shared/process/run-process";
import { PARSE_COMMAND } from "./text/parse.ts";

await runProcess(
  "knowledge",
  async (log) => {
    const { readKnowledgeConfig } = await import("./config.ts");
    const { startKnowledge } = await import("./service.ts");
    return startKnowledge(readKnowledgeConfig(process.env), log);
  },
  {
    [PARSE_COMMAND]: async () => {
      await import("./text/child.ts");
    },
  },
);
