import { startModel } from "./server.ts";

// The health check of its container.
if (process.argv[2] === "health") {
  const response = await fetch(`http://127.0.0.1:${process.env.PORT ?? 4100}/healthz`).catch(() => null);
  process.exit(response?.ok ? 0 : 1);
}

const port = readNumber("PORT", 4100, 65_535);
const wordDelayMs = readNumber("PARLEY_MODEL_WORD_DELAY_MS", 25, 60_000);
const model = start();
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void model.stop().then(() => process.exit(0)));
}
console.log(JSON.stringify({ level: "info", msg: "listening", address: new URL(model.url).host }));

function start() {
  try {
    return startModel({ port, wordDelayMs, hostname: process.env.PARLEY_MODEL_HOST || "127.0.0.1" });
  } catch (error) {
    return refuse(`port ${port} is not free (${error}); set PORT to another, or to 0 for any`);
  }
}

function readNumber(name: string, absent: number, max: number): number {
  const text = process.env[name] ?? String(absent);
  if (/^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text);
  return refuse(`${name} must be a whole number from 0 to ${max}; it is "${text}"`);
}

function refuse(error: string): never {
  console.log(JSON.stringify({ level: "error", msg: "not started", error }));
  process.exit(1);
}
