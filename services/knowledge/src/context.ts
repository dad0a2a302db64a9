import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { KnowledgeServiceService } from "@parley/proto/parley/knowledge/v1/knowledge_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { RoomSettings } from "@parley/shared/domain/full";
import type { AllowList } from "@parley/shared/egress/allow-list";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { Handlers } from "@parley/shared/rpc/server";

export interface KnowledgeContext {
  db: Database;
  clock: Clock;
  /** Has the agents that use bases. */
  agents: Pick<ServiceClient<typeof AgentServiceService>, "listKnowledgeBaseUsers">;
  /** Private hosts that pages may be on. */
  allowedHosts: AllowList;
  /** For everything of one owner. */
  room: RoomSettings;
  /** Documents of one owner. */
  documentsMax: number;
}

type Definition = typeof KnowledgeServiceService;

/** The handler of one RPC. */
export type Handler<M extends keyof Definition> = NonNullable<Handlers<Definition>[M]>;
