import { Elysia } from "elysia";
import type { Clients } from "../../clients.ts";
import type { GateContext } from "../../gate.ts";
import { alertRoutes } from "./alerts.ts";
import { carrierRoutes } from "./carriers.ts";
import { clonedVoiceRoutes } from "./cloned-voices.ts";
import { deliveryRoutes } from "./deliveries.ts";
import { destinationRoutes } from "./destinations.ts";
import { doNotCallRoutes } from "./do-not-call.ts";
import { keyRoutes } from "./keys.ts";
import { mobileNumberRoutes } from "./mobile-numbers.ts";
import { modelRoutes } from "./models.ts";
import { secretRoutes } from "./secrets.ts";
import { sessionRoutes } from "./session.ts";
import { settingsRoutes } from "./settings.ts";
import { statisticsRoutes } from "./statistics.ts";
import { testChatRoutes } from "./test-chats.ts";
import { usageRoutes } from "./usage.ts";

/** Routes for a signed-in owner (docs/api-reference.md#management-api). */
export function manageRoutes(gate: GateContext, clients: Clients) {
  return new Elysia()
    .use(sessionRoutes(gate, clients))
    .use(keyRoutes(gate, clients))
    .use(secretRoutes(gate, clients))
    .use(alertRoutes(gate, clients))
    .use(destinationRoutes(gate, clients))
    .use(deliveryRoutes(gate, clients))
    .use(mobileNumberRoutes(gate, clients))
    .use(doNotCallRoutes(gate, clients))
    .use(carrierRoutes(gate, clients))
    .use(clonedVoiceRoutes(gate, clients))
    .use(modelRoutes(gate, clients))
    .use(settingsRoutes(gate, clients))
    .use(statisticsRoutes(gate, clients))
    .use(testChatRoutes(gate, clients))
    .use(usageRoutes(gate, clients));
}
