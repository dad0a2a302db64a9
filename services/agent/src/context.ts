import type { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import type { BoundedRead } from "@parley/shared/bounded-reads";
import type { Clock } from "@parley/shared/clock";
import type { Database } from "@parley/shared/db/database";
import type { AllowList } from "@parley/shared/egress/allow-list";
import type { FewAtOnce } from "@parley/shared/few-at-once";
import type { ServiceClient } from "@parley/shared/rpc/client";
import type { LRUCache } from "lru-cache";
import type { Catalogue } from "./catalogue/catalogue.ts";
import type { ModelKeys } from "./model-keys/model-keys.ts";
import type { PromptUse } from "./prompts/prompt-use.ts";

export interface AgentContext {
  db: Database;
  prompts: ServiceClient<typeof PromptServiceService>;
  modelKeys: ModelKeys;
  catalogue: Catalogue;
  /** Which prompt agents used when they were last read, by owner and id. */
  lastUses: LRUCache<string, PromptUse>;
  /** Private hosts that a CUSTOM_LLM may be on. */
  allowedHosts: AllowList;
  /** By claim instead of by owner: one at a time (claim.ts). */
  claimOneAtOnce: FewAtOnce;
  boundedRead: BoundedRead;
  clock: Clock;
}
