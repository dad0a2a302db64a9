import type { Migration } from "@parley/shared/db/migrate";
import jobsAnnounced from "@parley/shared/jobs/announced.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import jobsInTurn from "@parley/shared/jobs/turns.sql" with { type: "text" };
import account from "../migrations/0001_account.sql" with { type: "text" };
import sessions from "../migrations/0002_sessions.sql" with { type: "text" };
import retentionRevision from "../migrations/0003_retention_revision.sql" with { type: "text" };
import idempotencyClaims from "../migrations/0004_idempotency_claims.sql" with { type: "text" };
import carriers from "../migrations/0006_carriers.sql" with { type: "text" };
import sessionDevices from "../migrations/0007_session_devices.sql" with { type: "text" };
import trunks from "../migrations/0008_trunks.sql" with { type: "text" };
import keyUse from "../migrations/0009_key_use.sql" with { type: "text" };
import earlierDeletions from "../migrations/0010_earlier_deletions.sql" with { type: "text" };
import provenNumbers from "../migrations/0012_proven_numbers.sql" with { type: "text" };
import callPolicies from "../migrations/0013_call_policies.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_jobs", sql: jobs },
  { name: "0001_account", sql: account },
  { name: "0002_sessions", sql: sessions },
  { name: "0003_retention_revision", sql: retentionRevision },
  { name: "0004_idempotency_claims", sql: idempotencyClaims },
  { name: "0005_jobs_in_turn", sql: jobsInTurn },
  { name: "0006_carriers", sql: carriers },
  { name: "0007_session_devices", sql: sessionDevices },
  { name: "0008_trunks", sql: trunks },
  { name: "0009_key_use", sql: keyUse },
  { name: "0010_earlier_deletions", sql: earlierDeletions },
  { name: "0011_jobs_announced", sql: jobsAnnounced },
  { name: "0012_proven_numbers", sql: provenNumbers },
  { name: "0013_call_policies", sql: callPolicies },
];
