import { runProcess } from "@parley/shared/process/run-process";

await runProcess("voice", async (log) => {
  const { readVoiceConfig } = await import("./config.ts");
  const { startVoice } = await import("./service.ts");
  return startVoice(readVoiceConfig(process.env), log);
});
