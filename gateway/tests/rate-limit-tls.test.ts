import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { silentLogger } from "@parley/shared/log";
import { authorityIn } from "@parley/shared/tls/authority";
import { eventually } from "@parley/testkit/eventually";
import {
  type Certificate,
  createAuthority,
  createCertificate,
  storeCertificate,
} from "@parley/testkit/tls/certificates";
import { readGatewayConfig } from "../src/config.ts";
import { redisLimiter } from "../src/rate-limit/redis.ts";
import { startGateway } from "../src/server.ts";
import { startRedis, type TestRedis } from "./redis-server.ts";

const NOWHERE = "127.0.0.1:1";

let folder: string;
let authority: Certificate;
const running: TestRedis[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-redis-tls-"));
  authority = await createAuthority("ours");
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((redis) => redis.remove()));
  await rm(folder, { recursive: true });
});

/** A Redis that only speaks TLS, as compose.yaml runs it. @returns its rediss:// address */
async function startTlsRedis(hosts?: string[]): Promise<string> {
  const own = await createCertificate(authority, "redis.example", {}, hosts);
  const { ca, cert, key } = await storeCertificate(folder, "redis", authority, own);
  const files = ["--tls-cert-file", cert, "--tls-key-file", key, "--tls-ca-cert-file", ca, "--tls-auth-clients", "no"];
  const redis = await startRedis((port) => ["--port", "0", "--tls-port", `${port}`, ...files]);
  running.push(redis);
  return redis.url.replace("redis://127.0.0.1", "rediss://localhost");
}

async function fileOf({ cert }: Certificate): Promise<string> {
  const file = join(folder, `${Bun.randomUUIDv7()}.pem`);
  await Bun.write(file, cert);
  return file;
}

/** The outcome of one request to the limiter, with the authority in this file. */
async function take(url: string, file: string): Promise<string> {
  const limiter = await redisLimiter({ url, authority: authorityIn(file, "PARLEY_REDIS_CA") });
  try {
    return (await limiter.take(Bun.randomUUIDv7(), 1)).allowed ? "allowed" : "refused";
  } catch (error) {
    return (error as Error).message;
  } finally {
    limiter.close();
  }
}

test("a Redis with a certificate of the given authority and for its name is used", async () => {
  expect(await take(await startTlsRedis(), await fileOf(authority))).toBe("allowed");
});

test("a Redis with a certificate of another authority, or for another name, receives nothing", async () => {
  const url = await startTlsRedis();
  expect(await take(url, await fileOf(await createAuthority("a stranger's")))).toMatch(/certificate/);
  expect(await take(await startTlsRedis([]), await fileOf(authority))).toMatch(/altnames|does not match/i);
});

test("a new authority in the file applies from the next connection on", async () => {
  const url = await startTlsRedis();
  const file = await fileOf(await createAuthority("the last one"));
  const limiter = await redisLimiter({ url, authority: authorityIn(file, "PARLEY_REDIS_CA") });
  await expect(limiter.take("key", 1)).rejects.toThrow("not connected");
  await Bun.write(file, authority.cert);
  await eventually(async () => expect((await limiter.take("key", 1)).allowed).toBeTrue());
  limiter.close();
});

test("an authority for a Redis without TLS is a configuration error", async () => {
  const addresses = ["ACCOUNT", "AGENT", "PROMPT", "CONVERSATION", "WEBHOOK", "MESSAGING", "VOICE", "KNOWLEDGE"].map(
    (name) => [`PARLEY_${name}_ADDRESS`, NOWHERE],
  );
  const env = { ...Object.fromEntries(addresses), PARLEY_REDIS_CA: await fileOf(authority) };
  const start = (REDIS_URL: string) => startGateway(readGatewayConfig({ ...env, REDIS_URL }), silentLogger);
  for (const url of ["redis://localhost:6379", "rediss://one:6379,redis://two:6379", ""])
    await expect(start(url)).rejects.toThrow("PARLEY_REDIS_CA is set, so REDIS_URL must begin with rediss://");
});
