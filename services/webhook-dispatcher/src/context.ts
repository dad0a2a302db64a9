import type { ConversationServiceService } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import type { WebhookDispatcherServiceService } from "@parley/proto/parley/webhook/v1/webhook_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { AllowList } from "@parley/shared/egress/allow-list";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { Handlers } from "@parley/shared/rpc/server";
import type { Sealer } from "@parley/shared/sealing";

export interface DispatcherContext {
  db: Database;
  clock: Clock;
  sealer: Sealer;
  /** Private hosts that destinations may use. */
  allowedHosts: AllowList;
  conversations: Pick<ServiceClient<typeof ConversationServiceService>, "setWantedEvents">;
}

type Definition = typeof WebhookDispatcherServiceService;

/** The handler of one RPC. */
export type Handler<M extends keyof Definition> = NonNullable<Handlers<Definition>[M]>;
