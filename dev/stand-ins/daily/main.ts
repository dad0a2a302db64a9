import { startDaily } from "./server.ts";

const port = readPort(process.env.PORT ?? "4104");
const daily = await startDaily({
  port,
  hostname: process.env.PARLEY_DAILY_HOST || "127.0.0.1",
  speechUrl: process.env.PARLEY_SPEECH_URL || "http://127.0.0.1:4101/v1",
}).catch((error) => refuse(`port ${port} is not free (${error}); set PORT to another, or to 0 for any`));
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void daily.stop().then(() => process.exit(0)));
}
console.log(JSON.stringify({ level: "info", msg: "listening", address: new URL(daily.url).host }));

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  return refuse(`PORT must be a whole number from 0 to 65535; it is "${text}"`);
}

function refuse(error: string): never {
  console.log(JSON.stringify({ level: "error", msg: "not started", error }));
  process.exit(1);
}
