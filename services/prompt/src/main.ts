import { runProcess } from "@parley/shared/process/run-process";

await runProcess("prompt", async (log) => {
  const { readPromptConfig } = await import("./config.ts");
  const { startPrompt } = await import("./service.ts");
  return startPrompt(readPromptConfig(process.env), log);
});
