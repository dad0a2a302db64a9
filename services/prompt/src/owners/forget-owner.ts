import { willSettle } from "@parley/shared/changes/follow";
import { deleteOwnedRows, type OwnedTable } from "@parley/shared/db/owned-rows";
import { IDEMPOTENCY_BYTES, IDEMPOTENCY_TABLE } from "@parley/shared/idempotency/store";
import { deleteParts, deleteRowsOf, forgetQueue } from "@parley/shared/jobs/forget-owner";
import type { Queue } from "@parley/shared/jobs/worker";
import { STORED_BYTES } from "@parley/shared/stored-bytes/room";
import type { PromptContext } from "../context.ts";

/** References would keep their prompts; versions come before their prompts because a prompt may have many. */
const BEFORE_PROMPTS: readonly OwnedTable[] = [
  { name: "prompt_references", key: ["prompt_name", "agent_id"] },
  { name: "prompt_labels", key: ["prompt_name", "label"] },
  { name: "prompt_versions", key: ["prompt_name", "prompt_version"], rows: 100 },
];
/** Subscribers hear of each prompt, so few are deleted at a time. */
const PROMPTS: OwnedTable = { name: "prompts", key: ["prompt_name"], rows: 100 };
const AFTER_PROMPTS: readonly OwnedTable[] = [
  { name: "reference_revisions", key: ["agent_id"] },
  STORED_BYTES,
  IDEMPOTENCY_TABLE,
  IDEMPOTENCY_BYTES,
];

/** Deletes the prompts of deleted owners, also those that agents use: the agents are deleted too. */
export function forgetOwners({ db, changes }: Pick<PromptContext, "db" | "changes">): Record<string, Queue> {
  return forgetQueue(async (ownerId, lease) => {
    await deleteRowsOf(db, ownerId, lease, BEFORE_PROMPTS);
    await deleteParts(lease, async () => {
      const found = await db.begin(async (tx) => {
        await willSettle(tx);
        return deleteOwnedRows(tx, PROMPTS, ownerId);
      });
      await changes.settled();
      return found;
    });
    await deleteRowsOf(db, ownerId, lease, AFTER_PROMPTS);
  });
}
