import changes from "@parley/shared/changes/table.sql" with { type: "text" };
import type { Migration } from "@parley/shared/db/migrate";
import idempotency from "@parley/shared/idempotency/table.sql" with { type: "text" };
import jobsAnnounced from "@parley/shared/jobs/announced.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import jobsInTurn from "@parley/shared/jobs/turns.sql" with { type: "text" };
import { IDEMPOTENCY_BYTES, STORED_BYTES_TABLE } from "@parley/shared/stored-bytes/migrations";
import agents from "../migrations/0001_agents.sql" with { type: "text" };
import clonedVoices from "../migrations/0002_cloned_voices.sql" with { type: "text" };
import analysisOrder from "../migrations/0003_analysis_order.sql" with { type: "text" };
import claims from "../migrations/0005_claims.sql" with { type: "text" };
import tellChanges from "../migrations/0007_tell_changes.sql" with { type: "text" };
import calledNumbers from "../migrations/0008_called_numbers.sql" with { type: "text" };
import callSettings from "../migrations/0009_call_settings.sql" with { type: "text" };
import drafts from "../migrations/0010_drafts.sql" with { type: "text" };
import recording from "../migrations/0011_recording.sql" with { type: "text" };
import whatsapp from "../migrations/0012_whatsapp.sql" with { type: "text" };
import agentBytes from "../migrations/0014_agent_bytes.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_jobs", sql: jobs },
  { name: "0000_idempotency", sql: idempotency },
  { name: "0001_agents", sql: agents },
  { name: "0002_cloned_voices", sql: clonedVoices },
  { name: "0003_analysis_order", sql: analysisOrder },
  { name: "0004_jobs_in_turn", sql: jobsInTurn },
  { name: "0005_claims", sql: claims },
  { name: "0006_change_followers", sql: changes },
  { name: "0007_tell_changes", sql: tellChanges },
  { name: "0008_called_numbers", sql: calledNumbers },
  { name: "0009_call_settings", sql: callSettings },
  { name: "0010_drafts", sql: drafts },
  { name: "0011_recording", sql: recording },
  { name: "0012_whatsapp", sql: whatsapp },
  { name: "0013_stored_bytes", ...STORED_BYTES_TABLE },
  { name: "0014_agent_bytes", sql: agentBytes },
  { name: "0015_idempotency_bytes", ...IDEMPOTENCY_BYTES },
  { name: "0016_jobs_announced", sql: jobsAnnounced },
];
