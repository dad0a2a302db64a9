import { type ConfigOf, positiveInteger } from "@parley/shared/config";
import { ENCRYPTION_KEY } from "@parley/shared/sealing";

export const WIDGET_VARIABLES = {
  PARLEY_TOKEN_KEY: ENCRYPTION_KEY({ desc: "32 bytes in base64 that seal widgets' tokens, the same on every replica" }),
  PARLEY_WIDGET_MESSAGES_PER_DAY: positiveInteger({
    default: 10_000,
    desc: "messages per UTC day from website visitors to all agents of an owner",
  }),
  PARLEY_WIDGET_MESSAGES_PER_ADDRESS: positiveInteger({
    default: 1_000,
    desc: "messages per UTC day from website visitors of one address to all agents of an owner",
  }),
};

export type WidgetConfig = ConfigOf<typeof WIDGET_VARIABLES>;
