import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { FewAtOnce } from "@parley/shared/few-at-once";

export interface PromptContext {
  db: Database;
  listFewAtOnce: FewAtOnce;
  clock: Clock;
}
