import type { Migration } from "@parley/shared/db/migrate";
import idempotency from "@parley/shared/idempotency/table.sql" with { type: "text" };
import jobsAnnounced from "@parley/shared/jobs/announced.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import jobsInTurn from "@parley/shared/jobs/turns.sql" with { type: "text" };
import { IDEMPOTENCY_BYTES, STORED_BYTES_TABLE } from "@parley/shared/stored-bytes/migrations";
import calls from "../migrations/0001_calls.sql" with { type: "text" };
import webCalls from "../migrations/0002_web_calls.sql" with { type: "text" };
import mediaStreams from "../migrations/0003_media_streams.sql" with { type: "text" };
import webCallDrafts from "../migrations/0004_web_call_drafts.sql" with { type: "text" };
import outboundCalls from "../migrations/0005_outbound_calls.sql" with { type: "text" };
import recordings from "../migrations/0006_recordings.sql" with { type: "text" };
import trunkContacts from "../migrations/0007_trunk_contacts.sql" with { type: "text" };
import incomingCalls from "../migrations/0008_incoming_calls.sql" with { type: "text" };
import callBatches from "../migrations/0009_call_batches.sql" with { type: "text" };
import dailySessions from "../migrations/0010_daily_sessions.sql" with { type: "text" };
import unbegunCalls from "../migrations/0011_unbegun_calls.sql" with { type: "text" };
import trunkRegistrations from "../migrations/0012_trunk_registrations.sql" with { type: "text" };
import farEnds from "../migrations/0014_far_ends.sql" with { type: "text" };
import givenVariables from "../migrations/0015_given_variables.sql" with { type: "text" };
import webCallBytes from "../migrations/0018_web_call_bytes.sql" with { type: "text" };
import incomingRate from "../migrations/0019_incoming_rate.sql" with { type: "text" };
import doNotCallTotals from "../migrations/0020_do_not_call_totals.sql" with { type: "text" };
import calledNumbers from "../migrations/0021_called_numbers.sql" with { type: "text" };
import callingNumbers from "../migrations/0022_calling_numbers.sql" with { type: "text" };
import reservedPlaces from "../migrations/0023_reserved_places.sql" with { type: "text" };
import spokenCalls from "../migrations/0024_spoken_calls.sql" with { type: "text" };
import callUsage from "../migrations/0025_call_usage.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_jobs", sql: jobs },
  { name: "0000_jobs_in_turn", sql: jobsInTurn },
  { name: "0000_idempotency", sql: idempotency },
  { name: "0001_calls", sql: calls },
  { name: "0002_web_calls", sql: webCalls },
  { name: "0003_media_streams", sql: mediaStreams },
  { name: "0004_web_call_drafts", sql: webCallDrafts },
  { name: "0005_outbound_calls", sql: outboundCalls },
  { name: "0006_recordings", sql: recordings },
  { name: "0007_trunk_contacts", sql: trunkContacts },
  { name: "0008_incoming_calls", sql: incomingCalls },
  { name: "0009_call_batches", sql: callBatches },
  { name: "0010_daily_sessions", sql: dailySessions },
  { name: "0011_unbegun_calls", sql: unbegunCalls },
  { name: "0012_trunk_registrations", sql: trunkRegistrations },
  { name: "0013_idempotency_bytes", ...IDEMPOTENCY_BYTES },
  { name: "0014_far_ends", sql: farEnds },
  { name: "0015_given_variables", sql: givenVariables },
  { name: "0016_jobs_announced", sql: jobsAnnounced },
  { name: "0017_stored_bytes", ...STORED_BYTES_TABLE },
  { name: "0018_web_call_bytes", sql: webCallBytes },
  { name: "0019_incoming_rate", sql: incomingRate },
  { name: "0020_do_not_call_totals", sql: doNotCallTotals },
  { name: "0021_called_numbers", sql: calledNumbers },
  { name: "0022_calling_numbers", sql: callingNumbers },
  { name: "0023_reserved_places", sql: reservedPlaces },
  { name: "0024_spoken_calls", sql: spokenCalls },
  { name: "0025_call_usage", sql: callUsage },
];
