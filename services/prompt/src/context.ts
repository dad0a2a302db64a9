import type { ChangeFollower } from "@parley/shared/changes/follow";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { BoundedRead } from "@parley/shared/shares/bounded-reads";

export interface PromptContext {
  db: Database;
  boundedRead: BoundedRead;
  changes: ChangeFollower;
  clock: Clock;
}
