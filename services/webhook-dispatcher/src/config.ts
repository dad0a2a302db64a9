import { configReader, positiveInteger, positiveNumber } from "@parley/shared/config";
import { allowList } from "@parley/shared/egress/allow-list";
import { SERVICE_VARIABLES } from "@parley/shared/process/service";
import { ENCRYPTION_KEY } from "@parley/shared/sealing";
import { str } from "envalid";

/** @throws ConfigError naming every variable that is missing or wrong. */
export const readDispatcherConfig = configReader({
  ...SERVICE_VARIABLES,
  PARLEY_ALLOWED_PRIVATE_HOSTS: allowList({
    default: [],
    desc: "private hosts and CIDRs that destinations may use",
  }),
  PARLEY_CONVERSATION_ADDRESS: str({
    desc: "host:port of the conversation service, which is told which events the destinations want",
  }),
  PARLEY_ENCRYPTION_KEY: ENCRYPTION_KEY({ desc: "32 bytes in base64, the same on every replica" }),
  PARLEY_EVENTS_OWNER_BYTES: positiveInteger({
    default: 20 * 1024 ** 3,
    desc: "limit for one owner's events, deliveries and attempts; beyond it, the oldest are deleted",
  }),
  PARLEY_WEBHOOK_RETRY_MS: positiveNumber({ default: 10_000, desc: "wait between attempts" }),
  PARLEY_WEBHOOK_TIMEOUT_MS: positiveNumber({ default: 10_000, desc: "time limit of an attempt" }),
  PARLEY_WEBHOOK_LEASE_MS: positiveNumber({
    default: 10_000,
    desc: "how long a process that died blocks its destinations",
  }),
  PARLEY_WEBHOOK_TURN_MS: positiveNumber({
    default: 30_000,
    desc: "how long a process keeps a destination that always has more to deliver",
  }),
});

export type DispatcherConfig = ReturnType<typeof readDispatcherConfig>;
