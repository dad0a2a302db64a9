import { hkdfSync } from "node:crypto";
import type postgres from "postgres";
import { connectPostgres } from "./connect.ts";

export const SCHEMAS = [
  "account",
  "agent",
  "prompt",
  "conversation",
  "webhook",
  "voice",
  "messaging",
  "knowledge",
] as const;
export type Schema = (typeof SCHEMAS)[number];

/**
 * Statement timeout in milliseconds: well above every deadline of a caller, so that abandoned statements end. Set on
 * the roles, because that also holds behind a transaction-mode pooler; work that takes longer by nature raises it with
 * `set local statement_timeout` in its own transaction.
 */
const STATEMENT_TIMEOUT_MS = 15_000;

/** A reachable Postgres answers every statement with the usual timeout within this time: `openDatabase`'s `answerWithinMs`. */
export const ANSWER_WITHIN_MS = STATEMENT_TIMEOUT_MS + 5_000;

/**
 * How long a transaction may idle between two statements, in milliseconds, before Postgres ends it: its process hangs
 * or its host vanished, and others wait for its locks. Longer than any work within a transaction.
 */
const IDLE_IN_TRANSACTION_TIMEOUT_MS = 30_000;

/**
 * Services whose statements run too often to be planned each time. Those of the others are: a plan that Postgres keeps may be of a time
 * when a table was empty, or be for any search text.
 */
const KEEP_PLANS: readonly Schema[] = ["conversation", "webhook"];

/** What Postgres sets for the sessions of a service's role. */
export function roleSettings(schema: Schema): Record<string, string | number> {
  return {
    search_path: `${quote(schema)}, public`,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_TIMEOUT_MS,
    plan_cache_mode: KEEP_PLANS.includes(schema) ? "auto" : "force_custom_plan",
  };
}

/**
 * `provisionRoles` with the roles of `roleUrls`, for an installation on one machine.
 * @param secret the installation's encryption key: the roles' passwords are derived from it, so that every process with
 *   the key agrees on them and none is stored
 */
export function provision(adminUrl: string, secret: string, prefix = databaseName(adminUrl)): Promise<void> {
  return provisionRoles(adminUrl, roleUrls(adminUrl, secret, prefix));
}

/**
 * Gives each service its schema and a role that can reach no other schema. Idempotent, and safe to run concurrently.
 * @param adminUrl a role that may create roles, schemas and extensions in this database
 * @param urls how each service will connect: the name and password of its role
 */
export async function provisionRoles(adminUrl: string, urls: Readonly<Record<Schema, string>>): Promise<void> {
  const admin = connectPostgres(adminUrl, { max: 1, onnotice: () => {} });
  try {
    await admin.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended('parley.provision', 0))`;
      await tx`create extension if not exists pg_trgm with schema public`;
      await tx`create extension if not exists btree_gin with schema public`;
      // Speeds up searches by meaning where the database has it.
      await tx.unsafe(WITH_PGVECTOR);
      await tx`revoke create on schema public from public`;
      for (const schema of SCHEMAS) await createRole(tx, schema, new URL(urls[schema]));
    });
  } finally {
    await admin.end();
  }
}

/**
 * How each service connects to the database of `adminUrl`, as the role that `provision` made for it.
 * @param prefix of the role names, so that two installations can share a cluster
 */
export function roleUrls(adminUrl: string, secret: string, prefix = databaseName(adminUrl)): Record<Schema, string> {
  const urls = SCHEMAS.map((schema) => {
    const url = new URL(adminUrl);
    url.username = encodeURIComponent(roleName(prefix, schema));
    url.password = rolePassword(roleName(prefix, schema), secret);
    return [schema, url.toString()];
  });
  return Object.fromEntries(urls) as Record<Schema, string>;
}

const WITH_PGVECTOR = `do $$ begin
  if exists (select from pg_available_extensions where name = 'vector') then
    create extension if not exists vector with schema public;
  end if;
end $$`;

function databaseName(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || "postgres";
}

function roleName(prefix: string, schema: Schema): string {
  return `${prefix}_${schema}`;
}

async function createRole(tx: postgres.TransactionSql, schema: Schema, url: URL): Promise<void> {
  const [role, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)];
  const [existing] = await tx`select 1 from pg_roles where rolname = ${role}`;
  if (!existing) await tx`create role ${tx(role)} login`;
  // ALTER ROLE takes no parameters.
  const [alter] = await tx<{ sql: string }[]>`
    select format('alter role %I password %L', ${role}::text, ${password}::text) as sql`;
  await tx.unsafe(alter?.sql ?? "");
  for (const [name, value] of Object.entries(roleSettings(schema))) {
    await tx.unsafe(`alter role ${quote(role)} set ${name} = ${value}`);
  }
  await tx`grant ${tx(role)} to current_user`;
  await tx`create schema if not exists ${tx(schema)} authorization ${tx(role)}`;
}

function rolePassword(role: string, secret: string): string {
  return Buffer.from(hkdfSync("sha256", secret, "parley postgres role", role, 32)).toString("hex");
}

function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
