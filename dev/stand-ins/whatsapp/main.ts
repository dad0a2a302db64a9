import { startWhatsApp } from "./server.ts";

const port = readPort(process.env.PORT ?? "4102");
const whatsApp = start();
for (const signal of ["SIGTERM", "SIGINT"] as const) {
  process.once(signal, () => void whatsApp.stop().then(() => process.exit(0)));
}
console.log(JSON.stringify({ level: "info", msg: "listening", address: new URL(whatsApp.url).host }));

function start() {
  try {
    return startWhatsApp({ port });
  } catch (error) {
    return refuse(`port ${port} is not free (${error}); set PORT to another, or to 0 for any`);
  }
}

function readPort(text: string): number {
  if (/^\d{1,5}$/.test(text) && Number(text) <= 65_535) return Number(text);
  return refuse(`PORT must be a whole number from 0 to 65535; it is "${text}"`);
}

function refuse(error: string): never {
  console.log(JSON.stringify({ level: "error", msg: "not started", error }));
  process.exit(1);
}
