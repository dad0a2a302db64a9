import { afterEach, describe, expect, test } from "bun:test";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ensureDatabase } from "@parley/dev/storage/postgres.ts";
import {
  freePort,
  interrupt,
  isUp,
  type RunningStack,
  runStack,
  type TemporaryHome,
  temporaryHome,
} from "./stack-run.ts";

const TIMEOUT_MS = 180_000;

const stacks: RunningStack[] = [];
const homes: TemporaryHome[] = [];
const leftovers: string[] = [];

afterEach(async () => {
  await Promise.all(stacks.splice(0).map(interrupt));
  await Promise.all(homes.splice(0).map((home) => home.remove()));
  await Promise.all(leftovers.splice(0).map((folder) => rm(folder, { recursive: true })));
}, TIMEOUT_MS);

async function start(access: "open" | "private", env: Record<string, string> = {}): Promise<RunningStack> {
  const home = await temporaryHome(access);
  homes.push(home);
  const stack = runStack(home.path, await freePort(), env);
  stacks.push(stack);
  await isUp(stack);
  return stack;
}

/** A PATH with the system's tools that the stack calls, and no Redis. Not in TMPDIR, which may be closed to other users. */
async function pathWithoutRedis(): Promise<string> {
  const folder = await mkdtemp("/var/tmp/parley-bin-");
  await chmod(folder, 0o755);
  leftovers.push(folder);
  for (const tool of ["getent", "useradd", "test", "setpriv"]) {
    const path = Bun.which(tool);
    if (path) await symlink(path, join(folder, tool));
  }
  return folder;
}

describe("a stack", () => {
  test(
    "works in a folder that only its user may enter, beside another stack, and without Redis, with a message",
    async () => {
      const [plain, secluded] = await Promise.all([
        start("open"),
        start("private", { PATH: await pathWithoutRedis() }),
      ]);
      expect(await Promise.all([plain.call(), secluded.call()])).toEqual([200, 200]);
      expect(secluded.output()).toContain("limits rates in its own memory");
      expect(secluded.processes().map(({ name }) => name)).not.toContain("redis");
      expect(plain.variables().PARLEY_API_KEY).not.toBe(secluded.variables().PARLEY_API_KEY);
    },
    TIMEOUT_MS,
  );

  test(
    "uses the Postgres and the Redis it is given and starts none",
    async () => {
      const database = `stack_${Bun.randomUUIDv7("hex").slice(-16)}`;
      const cluster = process.env.PARLEY_TEST_POSTGRES ?? "";
      await ensureDatabase(cluster, database);
      const stack = await start("open", {
        DATABASE_URL: Object.assign(new URL(cluster), { pathname: `/${database}` }).toString(),
        REDIS_URL: process.env.PARLEY_TEST_REDIS_URL ?? "",
      });
      expect(await stack.call()).toBe(200);
      const names = stack.processes().map(({ name }) => name);
      expect(names).not.toContain("postgres");
      expect(names).not.toContain("redis");
    },
    TIMEOUT_MS,
  );

  test(
    "reports all wrong variables at once, and what does not answer",
    async () => {
      const home = await temporaryHome("open");
      const wrong = runStack(home.path, 99_999, { PARLEY_ENCRYPTION_KEY: "short" });
      expect(await wrong.supervisor.exited).toBe(1);
      expect(wrong.output()).toMatch(/PORT .*"99999"\n.*PARLEY_ENCRYPTION_KEY .*must be 32 bytes/);
      const port = await freePort();
      const astray = runStack(home.path, port, {
        DATABASE_URL: `postgres://parley@127.0.0.1:${await freePort()}/parley`,
      });
      expect(await astray.supervisor.exited).toBe(1);
      expect(astray.output()).toContain("DATABASE_URL does not answer");
      await home.remove();
    },
    TIMEOUT_MS,
  );
});
