import { hkdfSync } from "node:crypto";
import postgres from "postgres";

export const SCHEMAS = ["account", "agent", "prompt", "conversation", "webhook"] as const;
export type Schema = (typeof SCHEMAS)[number];

/**
 * Gives each service its schema and a role that can reach no other. Idempotent, and safe for several at once.
 * Roles carry a prefix, the database's name unless given, so that two installations share a cluster.
 * @param adminUrl a role that may create roles and schemas in this database
 * @param secret the installation's encryption key: the roles' passwords are derived from it, so that everything which holds
 *   it agrees on them and none has to be stored
 */
export async function provision(adminUrl: string, secret: string, prefix = databaseName(adminUrl)): Promise<void> {
  const admin = postgres(adminUrl, { max: 1, onnotice: () => {} });
  try {
    await admin.begin(async (tx) => {
      await tx`select pg_advisory_xact_lock(hashtextextended('parley.provision', 0))`;
      await tx`create extension if not exists pg_trgm with schema public`;
      await tx`create extension if not exists btree_gin with schema public`;
      await tx`revoke create on schema public from public`;
      for (const schema of SCHEMAS) await createRole(tx, schema, roleName(prefix, schema), secret);
    });
  } finally {
    await admin.end();
  }
}

/** How each service connects to the database of `adminUrl`, as the role that `provision` made for it. */
export function roleUrls(adminUrl: string, secret: string, prefix = databaseName(adminUrl)): Record<Schema, string> {
  const urls = SCHEMAS.map((schema) => {
    const url = new URL(adminUrl);
    url.username = encodeURIComponent(roleName(prefix, schema));
    url.password = rolePassword(roleName(prefix, schema), secret);
    return [schema, url.toString()];
  });
  return Object.fromEntries(urls) as Record<Schema, string>;
}

function databaseName(url: string): string {
  return decodeURIComponent(new URL(url).pathname.slice(1)) || "postgres";
}

function roleName(prefix: string, schema: Schema): string {
  return `${prefix}_${schema}`;
}

async function createRole(tx: postgres.TransactionSql, schema: Schema, role: string, secret: string): Promise<void> {
  const [existing] = await tx`select 1 from pg_roles where rolname = ${role}`;
  if (!existing) await tx`create role ${tx(role)} login`;
  // The password is hexadecimal, so it needs no quoting; ALTER ROLE takes no parameters.
  await tx.unsafe(`alter role ${quote(role)} password '${rolePassword(role, secret)}'`);
  await tx.unsafe(`alter role ${quote(role)} set search_path = ${quote(schema)}, public`);
  await tx`grant ${tx(role)} to current_user`;
  await tx`create schema if not exists ${tx(schema)} authorization ${tx(role)}`;
}

function rolePassword(role: string, secret: string): string {
  return Buffer.from(hkdfSync("sha256", secret, "parley postgres role", role, 32)).toString("hex");
}

function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
