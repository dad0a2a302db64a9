import type { BoundedRead } from "@parley/shared/bounded-reads";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";

export interface PromptContext {
  db: Database;
  boundedRead: BoundedRead;
  clock: Clock;
}
