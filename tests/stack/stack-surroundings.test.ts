import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import { ensureDatabase } from "@parley/dev/storage/postgres.ts";
import { listeningPorts } from "../kit/deploy/listening.ts";
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

const NOBODY = 65_534;
/** Addresses that speak HTTP to everyone: the public API, and the stand-ins for providers on the internet. */
const PUBLIC = ["gateway", "gateway-2", "model", "speech", "carrier", "whatsapp", "daily"];

/** With two replicas of each process, in a folder that everybody may enter. */
let plain: RunningStack;
let plainsHome: TemporaryHome;
beforeAll(async () => {
  plainsHome = await temporaryHome("open");
  plain = runStack(plainsHome.path, await freePort(), { PARLEY_REPLICAS: "2" });
  await isUp(plain);
}, TIMEOUT_MS);
afterAll(async () => {
  await interrupt(plain);
  await plainsHome?.remove();
}, TIMEOUT_MS);

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
      const secluded = await start("private", { PATH: await pathWithoutRedis() });
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

describe.skipIf(process.getuid?.() !== 0 || process.platform !== "linux")("another user of the machine", () => {
  test("reaches the gateway, the stand-ins, SIP and the media WebSockets of a stack, and none of its other processes", () => {
    const processes = plain.processes();
    const addresses = processes.flatMap((each) => [
      each.address,
      each.admin_address,
      each.sip_address,
      each.media_address,
    ]);
    const answers = connectAsNobody(addresses.filter((address) => address !== undefined));
    const reached = processes.map(({ name, address, admin_address, sip_address, media_address }) => ({
      name,
      address: answers[address],
      admin: admin_address && answers[admin_address],
      sip: sip_address && answers[sip_address],
      media: media_address && answers[media_address],
    }));
    expect(reached.length).toBeGreaterThan(12);
    for (const { name, address, admin = "EACCES", sip, media } of reached)
      expect({ name, address, admin, sip, media }).toEqual({
        name,
        address: PUBLIC.includes(name) ? "connected" : "EACCES",
        admin: "EACCES",
        sip: name.startsWith("voice") ? "connected" : undefined,
        media: name.startsWith("voice") ? "connected" : undefined,
      });
  });

  test("finds no other TCP port of a stack's processes", () => {
    const processes = plain.processes();
    const ports = listeningPorts(processes.map(({ pid }) => pid));
    for (const { name, pid, address, sip_address, media_address } of processes) {
      const open = [PUBLIC.includes(name) && address, sip_address, media_address].filter((each) => !!each);
      expect({ name, ports: ports.get(pid)?.toSorted() }).toEqual({
        name,
        ports: open.map((each) => Number(String(each).split(":")[1])).toSorted(),
      });
    }
  });

  test("reads none of the files in its home", () => {
    const files = ["", "logs"]
      .flatMap((folder) => readdirSync(join(plainsHome.path, folder), { withFileTypes: true }))
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name));
    expect(files.map((file) => file.slice(plainsHome.path.length + 1))).toEqual(
      expect.arrayContaining(["dev.env", "installation.json", "stack.json", "supervisor.json", "logs/agent.log"]),
    );
    const script = `for (const file of ${JSON.stringify(files)})
      try { require("node:fs").closeSync(require("node:fs").openSync(file)); console.log(file); } catch {}`;
    expect(asNobody(script)).toBe("");
  });
});

/** Runs a program as another user of the machine. @returns what it printed */
function asNobody(script: string): string {
  const identity = { uid: NOBODY, gid: NOBODY, cwd: "/" };
  return Bun.spawnSync([process.execPath, "-e", script], identity).stdout.toString().trim();
}

/** For each address "connected", or the system's code for the failure. */
function connectAsNobody(addresses: readonly string[]): Record<string, string> {
  const places = addresses.map((address) => {
    const [host, port] = address.split(":");
    return [address, address.startsWith("unix:") ? { path: address.slice("unix:".length) } : { host, port }];
  });
  return JSON.parse(
    asNobody(`
      const { connect } = require("node:net");
      const reach = ([address, where]) => new Promise((resolve) => connect(where)
        .on("connect", () => resolve([address, "connected"]))
        .on("error", ({ code }) => resolve([address, code])));
      Promise.all(${JSON.stringify(places)}.map(reach)).then((reached) => {
        console.log(JSON.stringify(Object.fromEntries(reached)));
        process.exit();
      })`),
  );
}
