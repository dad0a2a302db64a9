import { serveStandIn } from "../serve.ts";
import { startSpeech } from "./server.ts";

serveStandIn(4101, (port) => startSpeech({ port, hostname: process.env.PARLEY_SPEECH_HOST || "127.0.0.1" }));
