import { serveStandIn } from "../serve.ts";
import { startSpeech } from "./server.ts";

await serveStandIn(4101, (port) => startSpeech({ port }));
