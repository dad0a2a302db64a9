import type { Migration } from "../db/migrate.ts";
import idempotencyBytes from "../idempotency/bytes.sql" with { type: "text" };
import count from "./count.sql" with { type: "text" };
import table from "./table.sql" with { type: "text" };

type Unnamed = Omit<Migration, "name">;

/** The sums, and the function of the triggers that keep them. */
export const STORED_BYTES_TABLE: Unnamed = {
  sql: `${count}\n${table}`,
  sha256: "881d814e12608b7bccb667c6f264cf0b910f6da1f96347c90ae31ace96e1ca67",
};

/** The same for the responses of idempotency keys, with or without the other one before it. */
export const IDEMPOTENCY_BYTES: Unnamed = {
  sql: `${count}\n${idempotencyBytes}`,
  sha256: "5f5ab33f1e92e31f67f2ad7adf9c6b51919bcfd5b351ff4b9ee4c7c6a7d3410d",
};
