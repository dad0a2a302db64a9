import { configReader } from "@parley/shared/config";
import { SERVICE_VARIABLES } from "@parley/shared/process/service";
import { str } from "envalid";
import { CHANNEL_VARIABLES } from "./channels/channels.ts";

/** @throws ConfigError naming every variable that is missing or wrong. */
export const readMessagingConfig = configReader({
  ...SERVICE_VARIABLES,
  PARLEY_ACCOUNT_ADDRESS: str({ desc: "host:port of the account service" }),
  PARLEY_AGENT_ADDRESS: str({ desc: "host:port of the agent service" }),
  PARLEY_CONVERSATION_ADDRESS: str({ desc: "host:port of the conversation service" }),
  PARLEY_VOICE_ADDRESS: str({ desc: "host:port of the voice service" }),
  ...CHANNEL_VARIABLES,
});

export type MessagingConfig = ReturnType<typeof readMessagingConfig>;
