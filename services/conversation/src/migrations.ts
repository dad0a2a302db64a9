import type { Migration } from "@parley/shared/db/migrate";
import idempotency from "@parley/shared/idempotency/table.sql" with { type: "text" };
import jobsAnnounced from "@parley/shared/jobs/announced.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import jobsInTurn from "@parley/shared/jobs/turns.sql" with { type: "text" };
import conversations from "../migrations/0001_conversations.sql" with { type: "text" };
import turnKeys from "../migrations/0002_turn_keys.sql" with { type: "text" };
import conversationCounts from "../migrations/0003_conversation_counts.sql" with { type: "text" };
import conversationSearch from "../migrations/0004_conversation_search.sql" with { type: "text" };
import conversationEvents from "../migrations/0005_conversation_events.sql" with { type: "text" };
import callsAndRetention from "../migrations/0006_calls_and_retention.sql" with { type: "text" };
import usage from "../migrations/0007_usage.sql" with { type: "text" };
import conversationLanguage from "../migrations/0008_conversation_language.sql" with { type: "text" };
import fairEvents from "../migrations/0010_fair_events.sql" with { type: "text" };
import replyCheckpoints from "../migrations/0011_reply_checkpoints.sql" with { type: "text" };
import spokenTurns from "../migrations/0013_spoken_turns.sql" with { type: "text" };
import searchSeams from "../migrations/0014_search_seams.sql" with { type: "text" };
import delivery from "../migrations/0015_delivery.sql" with { type: "text" };
import drafts from "../migrations/0016_drafts.sql" with { type: "text" };
import figures from "../migrations/0017_figures.sql" with { type: "text" };
import toolCalls from "../migrations/0018_tool_calls.sql" with { type: "text" };
import replyCounts from "../migrations/0019_reply_counts.sql" with { type: "text" };
import costs from "../migrations/0020_costs.sql" with { type: "text" };
import usageOfFigures from "../migrations/0021_usage_of_figures.sql" with { type: "text" };
import relayWakes from "../migrations/0022_relay_wakes.sql" with { type: "text" };
import searchSilent from "../migrations/0023_search_silent.sql" with { type: "text" };
import relayTold from "../migrations/0025_relay_told.sql" with { type: "text" };
import storedBytes from "../migrations/0026_stored_bytes.sql" with { type: "text" };
import searchBegan from "../migrations/0027_search_began.sql" with { type: "text" };
import fewerStatistics from "../migrations/0028_fewer_statistics.sql" with { type: "text" };
import listTests from "../migrations/0029_list_tests.sql" with { type: "text" };
import partialReason from "../migrations/0030_partial_reason.sql" with { type: "text" };
import messageStarts from "../migrations/0031_message_starts.sql" with { type: "text" };
import meanLatencies from "../migrations/0032_mean_latencies.sql" with { type: "text" };
import relayJobs from "../migrations/0033_relay_jobs.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  { name: "0000_jobs", sql: jobs },
  { name: "0001_conversations", sql: conversations },
  { name: "0002_turn_keys", sql: turnKeys },
  { name: "0003_conversation_counts", sql: conversationCounts },
  { name: "0004_conversation_search", sql: conversationSearch },
  { name: "0005_conversation_events", sql: conversationEvents },
  { name: "0006_calls_and_retention", sql: callsAndRetention },
  { name: "0007_usage", sql: usage },
  { name: "0008_conversation_language", sql: conversationLanguage },
  { name: "0009_jobs_in_turn", sql: jobsInTurn },
  { name: "0010_fair_events", sql: fairEvents },
  { name: "0011_reply_checkpoints", sql: replyCheckpoints },
  { name: "0012_idempotency", sql: idempotency },
  { name: "0013_spoken_turns", sql: spokenTurns },
  { name: "0014_search_seams", sql: searchSeams },
  { name: "0015_delivery", sql: delivery },
  { name: "0016_drafts", sql: drafts },
  { name: "0017_figures", sql: figures },
  { name: "0018_tool_calls", sql: toolCalls },
  { name: "0019_reply_counts", sql: replyCounts },
  { name: "0020_costs", sql: costs },
  { name: "0021_usage_of_figures", sql: usageOfFigures },
  { name: "0022_relay_wakes", sql: relayWakes },
  { name: "0023_search_silent", sql: searchSilent },
  { name: "0024_jobs_announced", sql: jobsAnnounced },
  { name: "0025_relay_told", sql: relayTold },
  { name: "0026_stored_bytes", sql: storedBytes },
  { name: "0027_search_began", sql: searchBegan },
  { name: "0028_fewer_statistics", sql: fewerStatistics },
  { name: "0029_list_tests", sql: listTests },
  { name: "0030_partial_reason", sql: partialReason },
  { name: "0031_message_starts", sql: messageStarts },
  { name: "0032_mean_latencies", sql: meanLatencies },
  { name: "0033_relay_jobs", sql: relayJobs },
];
