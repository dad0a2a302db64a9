import { serveStandIn } from "../serve.ts";
import { startWhatsApp } from "./server.ts";

serveStandIn(4103, (port) => startWhatsApp({ port }));
