import type { AgentServiceService } from "@parley/proto/parley/agent/v1/agent_service.ts";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { RoomSettings } from "@parley/shared/domain/full";
import type { ServiceClient } from "@parley/shared/rpc/client";

export interface PromptContext {
  db: Database;
  agents: Pick<ServiceClient<typeof AgentServiceService>, "followPrompt">;
  clock: Clock;
  /** For all prompts of one owner, with their versions. */
  room: RoomSettings;
}
