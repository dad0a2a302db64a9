import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { RoomSettings } from "@parley/shared/domain/full";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { Handlers } from "@parley/shared/rpc/server";

export interface PromptContext {
  db: Database;
  agents: Pick<ServiceClient<typeof AgentServiceService>, "followPrompt">;
  clock: Clock;
  /** For all prompts of one owner, with their versions. */
  room: RoomSettings;
}

type Definition = typeof PromptServiceService;

/** The handler of one RPC. */
export type Handler<M extends keyof Definition> = NonNullable<Handlers<Definition>[M]>;
