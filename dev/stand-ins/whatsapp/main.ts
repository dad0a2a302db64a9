import { serveStandIn } from "../serve.ts";
import { startWhatsApp } from "./server.ts";

const speechUrl = process.env.PARLEY_SPEECH_URL || "http://127.0.0.1:4101/v1";
await serveStandIn(4103, (port) => startWhatsApp({ port, speechUrl }));
