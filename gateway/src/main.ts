import { runProcess } from "@parley/shared/process/run-process";
import { readGatewayConfig } from "./config.ts";
import { startGateway } from "./server.ts";

await runProcess("gateway", (log) => startGateway(readGatewayConfig(process.env), log));
