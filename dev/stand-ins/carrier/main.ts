import { serveStandIn } from "../serve.ts";
import { startCarrier } from "./server.ts";

serveStandIn(4102, (port) =>
  startCarrier({
    port,
    hostname: process.env.PARLEY_CARRIER_HOST || "127.0.0.1",
    speechUrl: process.env.PARLEY_SPEECH_URL || "http://127.0.0.1:4101/v1",
  }),
);
