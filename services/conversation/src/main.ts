import { runProcess } from "@parley/shared/process/run-process";

await runProcess("conversation", async (log) => {
  const { readConversationConfig } = await import("./config.ts");
  const { startConversation } = await import("./service.ts");
  return startConversation(readConversationConfig(process.env), log);
});
