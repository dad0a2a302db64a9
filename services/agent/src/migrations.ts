import type { Migration } from "@parley/shared/db/migrate";
import idempotencyBytes from "@parley/shared/idempotency/bytes.sql" with { type: "text" };
import idempotency from "@parley/shared/idempotency/table.sql" with { type: "text" };
import jobs from "@parley/shared/jobs/table.sql" with { type: "text" };
import countStoredBytes from "@parley/shared/stored-bytes/count.sql" with { type: "text" };
import storedBytes from "@parley/shared/stored-bytes/table.sql" with { type: "text" };
import agents from "../migrations/0001_agent.sql" with { type: "text" };
import tools from "../migrations/0002_tools.sql" with { type: "text" };
import tests from "../migrations/0003_tests.sql" with { type: "text" };

export const MIGRATIONS: readonly Migration[] = [
  {
    name: "0001_agent",
    sql: [jobs, idempotency, countStoredBytes, storedBytes, idempotencyBytes, agents].join("\n"),
  },
  { name: "0002_tools", sql: tools },
  { name: "0003_tests", sql: tests },
];
