import { afterAll, describe, expect, test } from "bun:test";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateAll } from "@parley/deploy/src/migrate/migrate-all.ts";
import { ensureDatabase, OWNER, postgresUrl } from "@parley/dev/storage/postgres.ts";
import { connectPostgres } from "@parley/shared/db/connect";
import { roleUrls } from "@parley/shared/db/provision";
import { silentLogger } from "@parley/shared/log";
import { TEST_SECRET } from "@parley/testkit/database";
import { eventually } from "@parley/testkit/eventually";
import { startServiceProcess } from "@parley/testkit/programs/service-process";
import {
  type Certificate,
  createAuthority,
  createCertificate,
  storeCertificate,
} from "@parley/testkit/tls/certificates";
import { PASSWORD, prepareOwnPostgres } from "../kit/deploy/own-postgres.ts";

const own = await prepareOwnPostgres();
const folder = await mkdtemp(join(tmpdir(), "parley-postgres-tls-"));
await chmod(folder, 0o711);
const [authority, stranger] = await Promise.all([createAuthority("ours"), createAuthority("a stranger's")]);
const { port } = await own.start(own.cluster);
await ensureDatabase(postgresUrl(port, PASSWORD, "postgres"), OWNER);
afterAll(async () => {
  await own.stop();
  await rm(folder, { recursive: true });
});

/** Makes the server show a certificate for a name and these hosts from now on. */
async function serveAs(name: string, hosts?: string[]): Promise<void> {
  const { cert, key } = await storeCertificate(
    folder,
    name,
    authority,
    await createCertificate(authority, name, {}, hosts),
  );
  // Postgres refuses a key that others can read.
  await chmod(key, 0o600);
  if (own.cluster.user) await chown(key, own.cluster.user.uid, own.cluster.user.gid);
  await configure({ ssl_cert_file: cert, ssl_key_file: key, ssl: "on" });
}

async function configure(settings: Record<string, string>): Promise<void> {
  const plain = postgresUrl(port, PASSWORD);
  const sql = connectPostgres(plain, { max: 1 });
  for (const [name, value] of Object.entries(settings)) await sql.unsafe(`alter system set ${name} = '${value}'`);
  await sql`select pg_reload_conf()`;
  await sql.end();
  await eventually(async () => {
    const fresh = connectPostgres(plain, { max: 1 });
    const rows = await fresh`select name, setting from pg_settings where name = any(${Object.keys(settings)})`;
    await fresh.end();
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual(settings);
  });
}

/** The file of an authority, for an address to name. */
async function fileOf({ cert }: Certificate): Promise<string> {
  const file = join(folder, `${Bun.randomUUIDv7()}.pem`);
  await Bun.write(file, cert);
  return file;
}

function verifying(file: string, host = "localhost"): string {
  const url = postgresUrl(port, PASSWORD).replace("127.0.0.1", host);
  return `${url}?sslmode=verify-full&sslrootcert=${encodeURIComponent(file)}`;
}

/** Whether the server says that the connection uses TLS. @throws why there is none */
async function isTls(url: string): Promise<boolean> {
  const sql = connectPostgres(url, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    const [row] = await sql<[{ ssl: boolean }]>`select ssl from pg_stat_ssl where pid = pg_backend_pid()`;
    return row.ssl;
  } finally {
    await sql.end({ timeout: 1 });
  }
}

describe("an address of Postgres with sslrootcert", () => {
  test("works for migrate and a service, with TLS on every connection", async () => {
    await serveAs("postgres");
    const admin = verifying(await fileOf(authority));
    const urls = roleUrls(admin, TEST_SECRET);
    await migrateAll(
      {
        DATABASE_ADMIN_URL: admin,
        ACCOUNT_DATABASE_URL: urls.account,
        AGENT_DATABASE_URL: urls.agent,
        PROMPT_DATABASE_URL: urls.prompt,
        CONVERSATION_DATABASE_URL: urls.conversation,
        VOICE_DATABASE_URL: urls.voice,
        MESSAGING_DATABASE_URL: urls.messaging,
        KNOWLEDGE_DATABASE_URL: urls.knowledge,
        WEBHOOK_DATABASE_URL: urls.webhook,
      },
      silentLogger,
    );
    const account = await startServiceProcess("account", {
      PARLEY_ENCRYPTION_KEY: TEST_SECRET,
      DATABASE_URL: urls.account,
      PARLEY_CONVERSATION_ADDRESS: "127.0.0.1:1",
      PARLEY_VOICE_ADDRESS: "127.0.0.1:1",
      PARLEY_MESSAGING_ADDRESS: "127.0.0.1:1",
      PARLEY_KNOWLEDGE_ADDRESS: "127.0.0.1:1",
      PARLEY_AGENT_ADDRESS: "127.0.0.1:1",
      PARLEY_PROMPT_ADDRESS: "127.0.0.1:1",
      PARLEY_WEBHOOK_ADDRESS: "127.0.0.1:1",
    });
    const sql = connectPostgres(admin, { max: 1 });
    const connections = await sql<{ ssl: boolean }[]>`
      select ssl from pg_stat_ssl join pg_stat_activity using (pid) where application_name like 'parley-%'`;
    expect(connections.length).toBeGreaterThan(0);
    expect(connections.every(({ ssl }) => ssl)).toBeTrue();
    await sql.end();
    expect(await account.stop()).toBe(0);
  });

  test("accepts no server of another authority", async () => {
    await serveAs("postgres");
    expect(await isTls(verifying(await fileOf(authority)))).toBeTrue();
    await expect(isTls(verifying(await fileOf(stranger)))).rejects.toThrow(/certificate/);
  });

  test("accepts no server with a certificate for another name", async () => {
    await serveAs("db.elsewhere.example", []);
    for (const host of ["localhost", "127.0.0.1"])
      await expect(isTls(verifying(await fileOf(authority), host))).rejects.toThrow(/altnames|does not match/i);
    expect(await isTls(`${postgresUrl(port, PASSWORD)}?sslmode=require`)).toBeTrue();
  });

  test("never falls back to plain text", async () => {
    await configure({ ssl: "off" });
    await expect(isTls(verifying(await fileOf(authority)))).rejects.toThrow();
    expect(await isTls(postgresUrl(port, PASSWORD))).toBeFalse();
  });

  test("uses a new authority from the file at the next connection, and keeps the last one while the file is unusable", async () => {
    await serveAs("postgres");
    const file = await fileOf(stranger);
    const sql = connectPostgres(verifying(file), { max: 1, idle_timeout: 1, connect_timeout: 5 });
    await expect(sql`select 1`).rejects.toThrow(/certificate/);
    await Bun.write(file, authority.cert);
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }] as never);
    await Bun.write(file, "half a file");
    await sql`select pg_terminate_backend(pg_backend_pid())`.catch(() => {});
    expect(await sql`select 1 as one`).toEqual([{ one: 1 }] as never);
    await sql.end();
  });

  test("is a configuration error without the file, or with a mode that verifies less", async () => {
    expect(() => connectPostgres(verifying(join(folder, "missing.pem")))).toThrow(
      /missing\.pem does not contain certificates/,
    );
    const less = verifying(await fileOf(authority)).replace("verify-full", "require");
    expect(() => connectPostgres(less)).toThrow("must have sslmode=verify-full, not require");
  });
});
