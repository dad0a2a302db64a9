import type { Attack } from "./attack.ts";
import { BODY_ATTACKS } from "./attacks/bodies.ts";
import { CHANNEL_ATTACKS } from "./attacks/channels.ts";
import { CONNECTION_ATTACKS } from "./attacks/connections.ts";
import { MEMORY_ATTACKS } from "./attacks/memory.ts";
import { MODEL_ATTACKS } from "./attacks/models.ts";
import { REQUEST_ATTACKS } from "./attacks/requests.ts";
import { WEBHOOK_ATTACKS } from "./attacks/webhooks.ts";

const NOTHING: Attack = {
  name: "nothing",
  what: "no request, for comparison",
  tier: "free",
  isControl: true,
  prepare: async () => async () => {},
};

/** The attacks that leave the most behind come last. */
export const ATTACKS: readonly Attack[] = [
  NOTHING,
  ...CONNECTION_ATTACKS,
  ...BODY_ATTACKS,
  ...REQUEST_ATTACKS,
  ...CHANNEL_ATTACKS,
  ...MODEL_ATTACKS,
  ...WEBHOOK_ATTACKS,
  ...MEMORY_ATTACKS,
];
