import type { AccountServiceService } from "@parley/proto/parley/account/v1/account_service.ts";
import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import type { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { RoomSettings } from "@parley/shared/domain/full";
import type { AllowList } from "@parley/shared/egress/allow-list";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { Handlers } from "@parley/shared/rpc/server";
import type { Sealer } from "@parley/shared/sealing";
import type { FewAtOnce } from "@parley/shared/shares/few-at-once";
import type { Catalogue } from "./catalogue/catalogue.ts";
import type { ModelKeys } from "./model-keys/model-keys.ts";
import type { Drivers } from "./tests/runs/driver.ts";

export interface AgentContext {
  db: Database;
  prompts: ServiceClient<typeof PromptServiceService>;
  /** Has the owners' secrets, which tools and models refer to, and their phone numbers. */
  accounts: Pick<ServiceClient<typeof AccountServiceService>, "findSecrets" | "findLostNumbers">;
  /** Asks MCP servers what they offer, and holds the conversations of tests. */
  conversations: Drivers["conversations"] &
    Pick<
      ServiceClient<typeof ConversationServiceService>,
      "listMcpTools" | "fetchDocument" | "recordEvent" | "listConversations"
    >;
  /** Holds the calls of tests. */
  voices: Drivers["voices"];
  /** Has the bases that agents answer from. */
  knowledge: Pick<
    ServiceClient<typeof KnowledgeServiceService>,
    "resolveKnowledgeBases" | "getDocument" | "listDocuments"
  >;
  /** Seals the signing secrets of tools. */
  sealer: Sealer;
  modelKeys: ModelKeys;
  catalogue: Catalogue;
  /** Of the catalogue's prices. */
  pricesHash: string;
  /** Private hosts where an owner's own endpoints and tools may be. */
  allowedHosts: AllowList;
  /** Shares by claim instead of by owner: one at a time (prompts/claim.ts). */
  claimOneAtOnce: FewAtOnce;
  clock: Clock;
  /** For all agents of one owner, with their versions, and tools. */
  room: RoomSettings;
}

type Definition = typeof AgentServiceService;

/** The handler of one RPC. */
export type Handler<M extends keyof Definition> = NonNullable<Handlers<Definition>[M]>;
