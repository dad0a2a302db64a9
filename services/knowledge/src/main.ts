import { runProcess } from "@parley/shared/process/run-process";
import { PARSE_COMMAND } from "./text/parse.ts";

// Each task loads only what it needs: a process that reads a document is started for every document.
await runProcess(
  "knowledge",
  async (log) => {
    const [{ readKnowledgeConfig }, { startKnowledge }] = await Promise.all([
      import("./config.ts"),
      import("./service.ts"),
    ]);
    return startKnowledge(readKnowledgeConfig(process.env), log);
  },
  {
    [PARSE_COMMAND]: async () => {
      await import("./text/child.ts");
    },
  },
);
