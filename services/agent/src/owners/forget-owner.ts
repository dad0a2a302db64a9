import type { OwnedTable } from "@parley/shared/db/owned-rows";
import { IDEMPOTENCY_BYTES, IDEMPOTENCY_TABLE } from "@parley/shared/idempotency/store";
import { deleteRowsOf, forgetQueue } from "@parley/shared/jobs/forget-owner";
import type { Queue } from "@parley/shared/jobs/worker";
import { STORED_BYTES } from "@parley/shared/stored-bytes/room";
import type { AgentContext } from "../context.ts";

const TABLES: readonly OwnedTable[] = [
  { name: "agents", key: ["agent_id"] },
  { name: "agent_versions", key: ["agent_id", "agent_version"], rows: 100 },
  { name: "version_texts", key: ["hash"], rows: 100 },
  { name: "agent_publishes", key: ["agent_id", "number"] },
  { name: "agent_keys", key: ["agent_id", "key_use"] },
  { name: "agent_drafts", key: ["draft_id"] },
  { name: "cloned_voices", key: ["provider_name", "voice_id"] },
  { name: "claims", key: ["claim"] },
  { name: "tools", key: ["tool_id"] },
  { name: "agent_tests", key: ["agent_id", "test_id"] },
  { name: "test_attempts", key: ["run_id", "place"], rows: 100 },
  { name: "test_runs", key: ["run_id"] },
  { name: "test_passes", key: ["agent_id", "pass_key"] },
  STORED_BYTES,
  IDEMPOTENCY_TABLE,
  IDEMPOTENCY_BYTES,
];

/**
 * Deletes the agents of deleted owners, with the keys of their models, their tools, and what belongs to them. The prompt service deletes the
 * references to their prompts itself.
 */
export function forgetOwners({ db }: Pick<AgentContext, "db">): Record<string, Queue> {
  return forgetQueue((ownerId, lease) => deleteRowsOf(db, ownerId, lease, TABLES));
}
