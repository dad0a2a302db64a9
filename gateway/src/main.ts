import { runProcess } from "@parley/shared/process/run-process";

await runProcess("gateway", async (log) => {
  const { readGatewayConfig } = await import("./config.ts");
  const { startGateway } = await import("./server.ts");
  return startGateway(readGatewayConfig(process.env), log);
});
