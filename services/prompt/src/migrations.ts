import changes from "@parley/shared/changes/table.sql" with { type: "text" };
import type { Migration } from "@parley/shared/db/migrate";
import idempotency from "@parley/shared/idempotency/table.sql" with { type: "text" };
import jobsAnnounced from "@parley/shared/jobs/announced.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import jobsInTurn from "@parley/shared/jobs/turns.sql" with { type: "text" };
import { IDEMPOTENCY_BYTES, STORED_BYTES_TABLE } from "@parley/shared/stored-bytes/migrations";
import prompts from "../migrations/0001_prompts.sql" with { type: "text" };
import search from "../migrations/0002_prompt_search.sql" with { type: "text" };
import revisions from "../migrations/0003_reference_revisions.sql" with { type: "text" };
import tellChanges from "../migrations/0005_tell_changes.sql" with { type: "text" };
import promptBytes from "../migrations/0009_prompt_bytes.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_idempotency", sql: idempotency },
  { name: "0001_prompts", sql: prompts },
  { name: "0002_prompt_search", sql: search },
  { name: "0003_reference_revisions", sql: revisions },
  { name: "0004_change_followers", sql: changes },
  { name: "0005_tell_changes", sql: tellChanges },
  { name: "0006_jobs", sql: jobs },
  { name: "0007_jobs_in_turn", sql: jobsInTurn },
  { name: "0008_stored_bytes", ...STORED_BYTES_TABLE },
  { name: "0009_prompt_bytes", sql: promptBytes },
  { name: "0010_idempotency_bytes", ...IDEMPOTENCY_BYTES },
  { name: "0011_jobs_announced", sql: jobsAnnounced },
];
