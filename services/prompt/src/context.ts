import type { ChangeFollower } from "@parley/shared/changes/follow";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { RoomSettings } from "@parley/shared/domain/full";
import type { BoundedRead } from "@parley/shared/shares/bounded-reads";

export interface PromptContext {
  db: Database;
  boundedRead: BoundedRead;
  changes: ChangeFollower;
  clock: Clock;
  /** For all prompts of one owner, with their versions. */
  room: RoomSettings;
}
