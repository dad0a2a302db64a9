import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { VoiceServiceService } from "@parley/proto/parley/voice/v1/voice_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { Logger } from "@parley/shared/log";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { Handlers } from "@parley/shared/rpc/server";
import type { Sealer } from "@parley/shared/sealing";
import type { Carriers } from "./carriers/carriers.ts";
import type { KeyChanges } from "./keys/key-changes.ts";
import type { Passwords } from "./sign-in/password.ts";

export interface AccountContext {
  db: Database;
  keyChanges: KeyChanges;
  passwords: Passwords;
  carriers: Carriers;
  conversations: ServiceClient<typeof ConversationServiceService>;
  /** Has the tools and agents that use secrets. */
  agents: Pick<ServiceClient<typeof AgentServiceService>, "listSecretUsers" | "renewKeys">;
  /** Seals the secrets. */
  sealer: Sealer;
  voices: Pick<ServiceClient<typeof VoiceServiceService>, "speakToNumber">;
  /** PARLEY_CODE_CALLS_OWNER. */
  codeCallsOwnerId: string;
  /** What agents may call in a day, of owners without a policy of their own. */
  callDefaults: { callsPerDay: number; minutesPerDay: number };
  clock: Clock;
  log: Logger;
}

type Definition = typeof AccountServiceService;

/** The handler of one RPC. */
export type Handler<M extends keyof Definition> = NonNullable<Handlers<Definition>[M]>;
