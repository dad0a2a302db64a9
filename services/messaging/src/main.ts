import { runProcess } from "@parley/shared/process/run-process";

await runProcess("messaging", async (log) => {
  const { readMessagingConfig } = await import("./config.ts");
  const { startMessaging } = await import("./service.ts");
  return startMessaging(readMessagingConfig(process.env), log);
});
