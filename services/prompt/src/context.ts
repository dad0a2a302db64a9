import type { ChangeFollower } from "@parley/shared/changes/follow";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { RoomSettings } from "@parley/shared/domain/full";

export interface PromptContext {
  db: Database;
  changes: ChangeFollower;
  clock: Clock;
  /** For all prompts of one owner, with their versions. */
  room: RoomSettings;
}
