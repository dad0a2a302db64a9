import type { OwnedTable } from "@parley/shared/db/owned-rows";
import { IDEMPOTENCY_BYTES, IDEMPOTENCY_TABLE } from "@parley/shared/idempotency/store";
import { deleteRowsOf, forgetQueue } from "@parley/shared/jobs/forget-owner";
import type { Queue } from "@parley/shared/jobs/worker";
import { STORED_BYTES } from "@parley/shared/stored-bytes/room";
import type { PromptContext } from "../context.ts";

/** References would keep their prompts; versions come before their prompts because a prompt may have many. */
const TABLES: readonly OwnedTable[] = [
  { name: "prompt_references", key: ["prompt_name", "agent_id"] },
  { name: "prompt_labels", key: ["prompt_name", "label"] },
  { name: "prompt_versions", key: ["prompt_name", "prompt_version"], rows: 100 },
  { name: "prompts", key: ["prompt_name"] },
  { name: "reference_revisions", key: ["agent_id"] },
  STORED_BYTES,
  IDEMPOTENCY_TABLE,
  IDEMPOTENCY_BYTES,
];

/** Deletes the prompts of deleted owners, also those that agents use: the agents are deleted too. */
export function forgetOwners({ db }: Pick<PromptContext, "db">): Record<string, Queue> {
  return forgetQueue((ownerId, lease) => deleteRowsOf(db, ownerId, lease, TABLES));
}
