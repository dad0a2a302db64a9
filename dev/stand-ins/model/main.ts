import { readNumber, serveStandIn } from "../serve.ts";
import { startModel } from "./server.ts";

// The health check of its container.
if (process.argv[2] === "health") {
  const response = await fetch(`http://127.0.0.1:${process.env.PORT ?? 4100}/healthz`).catch(() => null);
  process.exit(response?.ok ? 0 : 1);
}

const wordDelayMs = readNumber("PARLEY_MODEL_WORD_DELAY_MS", 25, 60_000);
await serveStandIn(4100, (port) =>
  startModel({ port, wordDelayMs, hostname: process.env.PARLEY_MODEL_HOST || "127.0.0.1" }),
);
