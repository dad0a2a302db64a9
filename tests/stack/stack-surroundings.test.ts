import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { readDevEnv } from "@parley/dev/stack/dev-env.ts";
import { Redis } from "ioredis";
import { STAND_INS, startTestStack } from "../kit/stack/test-stack.ts";
import { freePort, isUp, runStack, temporaryHome } from "./stack-run.ts";

const TIMEOUT_MS = 180_000;
setDefaultTimeout(TIMEOUT_MS);

/** A database of its own in the tests' Redis, which no other test uses. */
const REDIS_URL = `${process.env.PARLEY_TEST_REDIS_URL}/15`;

/** With an empty database in the tests' Postgres, the tests' Redis, and what lists agents. */
const given = await startTestStack({
  postgres: "empty",
  redisUrl: REDIS_URL,
  without: [...STAND_INS, "conversation", "knowledge", "messaging", "voice", "webhook-dispatcher"],
});
afterAll(async () => {
  await given.stop();
}, TIMEOUT_MS);

/** Lists agents with the first owner's key. */
async function callGiven(): Promise<number> {
  return (await given.api(readDevEnv(given.home)?.apiKey ?? "").get("/agents")).status;
}

/** A PATH with the system's tools that the stack calls, and no Redis. Not in TMPDIR, which may be closed to other users. */
async function pathWithoutRedis() {
  const folder = await mkdtemp("/var/tmp/parley-bin-");
  await chmod(folder, 0o755);
  for (const tool of ["getent", "useradd", "test", "setpriv"]) {
    const path = Bun.which(tool);
    if (path) await symlink(path, join(folder, tool));
  }
  return { folder, [Symbol.asyncDispose]: () => rm(folder, { recursive: true }) };
}

/** The number of keys in the Redis that the stack is given. */
async function givenKeys(): Promise<number> {
  const redis = new Redis(REDIS_URL);
  try {
    return await redis.dbsize();
  } finally {
    redis.disconnect();
  }
}

describe("a stack", () => {
  test("works in a folder that only its user may enter, beside another stack, and without Redis, with a message", async () => {
    await using home = await temporaryHome("private");
    await using path = await pathWithoutRedis();
    await using secluded = runStack(home.path, await freePort(), { PATH: path.folder });
    await isUp(secluded);
    expect(await Promise.all([callGiven(), secluded.call()])).toEqual([200, 200]);
    expect(secluded.output()).toContain("limits rates in its own memory");
    expect(secluded.processes().map(({ name }) => name)).not.toContain("redis");
    expect(readDevEnv(given.home)?.apiKey).not.toBe(secluded.variables().PARLEY_API_KEY);
  });

  test("fills the empty Postgres and uses the Redis that it is given, and starts none", async () => {
    expect(await callGiven()).toBe(200);
    expect(await givenKeys()).toBeGreaterThan(0);
    const names = Object.keys(given.pids());
    expect(names).toContain("gateway");
    expect(names).not.toContain("postgres");
    expect(names).not.toContain("redis");
  });

  test("reports all wrong variables at once, and what does not answer", async () => {
    await using home = await temporaryHome("open");
    await using wrong = runStack(home.path, 99_999, { PARLEY_ENCRYPTION_KEY: "short" });
    expect(await wrong.supervisor.exited).toBe(1);
    expect(wrong.output()).toMatch(/PORT .*"99999"\n.*PARLEY_ENCRYPTION_KEY .*must be 32 bytes/);
    const port = await freePort();
    await using astray = runStack(home.path, port, {
      DATABASE_URL: `postgres://parley@127.0.0.1:${await freePort()}/parley`,
    });
    expect(await astray.supervisor.exited).toBe(1);
    expect(astray.output()).toContain("DATABASE_URL does not answer");
  });
});
