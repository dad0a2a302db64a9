import { roleUrls, type Schema } from "@parley/shared/db/provision";
import postgres from "postgres";

/** A database with roles and schemas but no tables, created by the test command; its name is the prefix of the roles. */
export const EMPTY_TEMPLATE = "parley_template";
/** A database with every service's tables, so that no test migrates again. */
export const TEMPLATE = "parley_template_migrated";
/**
 * The pool of a service under test, for which each connection is set up anew, with the plans of its statements: with ten, a whole run
 * takes about a tenth more CPU. Where a test holds several connections, the product's pool is needed.
 */
export const FEW_CONNECTIONS = { PARLEY_DATABASE_POOL: "3" } as const;
export const TEST_SECRET = Buffer.alloc(32, 7).toString("base64");

export interface TestDatabase {
  /** The URL of the superuser. */
  adminUrl: string;
  /** The URLs of each service's own role. */
  urls: Record<Schema, string>;
  drop(): Promise<void>;
}

/**
 * Creates a migrated database for one test file.
 * @param template `EMPTY_TEMPLATE` for tests that create their own tables
 * @throws when the test was not started by the test command, which provides Postgres
 */
export async function createTestDatabase(template = TEMPLATE): Promise<TestDatabase> {
  const clusterUrl = process.env.PARLEY_TEST_POSTGRES;
  if (!clusterUrl) throw new Error("no PARLEY_TEST_POSTGRES: run tests with `bun run test [path]`, which starts one");
  const name = `t_${Bun.randomUUIDv7("hex").slice(-16)}`;
  await copyDatabase(clusterUrl, template, name);
  const adminUrl = Object.assign(new URL(clusterUrl), { pathname: `/${name}` }).toString();
  return {
    adminUrl,
    urls: roleUrls(adminUrl, TEST_SECRET, EMPTY_TEMPLATE),
    drop: () => asAdmin(clusterUrl, (admin) => admin`drop database ${admin(name)} with (force)`),
  };
}

/**
 * Copies the template's files, which takes half as much as logging each of their pages.
 * @param clusterUrl as the superuser
 */
export async function copyDatabase(clusterUrl: string, template: string, name: string): Promise<void> {
  await asAdmin(
    clusterUrl,
    (admin) => admin`create database ${admin(name)} template ${admin(template)} strategy file_copy`,
  );
}

async function asAdmin(url: string, work: (admin: postgres.Sql) => Promise<unknown>): Promise<void> {
  // No statement has an array, so the types of arrays need not be asked for.
  const admin = postgres(url, { max: 1, fetch_types: false, onnotice: () => {} });
  try {
    await work(admin);
  } finally {
    await admin.end();
  }
}
