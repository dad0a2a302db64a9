import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { listeningPorts } from "../kit/deploy/listening.ts";
import { asNobody, connectAsNobody } from "./another-user.ts";
import {
  FROM_SOURCES,
  freePort,
  interrupt,
  isAlive,
  isUp,
  type RunningStack,
  runStack,
  temporaryHome,
} from "./stack-run.ts";

const NAMES = [
  ...[
    "account",
    "agent",
    "carrier",
    "conversation",
    "daily",
    "gateway",
    "knowledge",
    "messaging",
    "model",
    "postgres",
    "prompt",
    "redis",
    "speech",
    "voice",
    "webhook-dispatcher",
    "whatsapp",
  ],
];
const WITHIN_MS = 60_000;
/** Addresses that speak HTTP to everyone: the public API, and the stand-ins for providers on the internet. */
const PUBLIC = ["gateway", "gateway-2", "model", "speech", "carrier", "whatsapp", "daily"];

const home = await temporaryHome("open");
let stack: RunningStack = runStack(home.path, await freePort(), FROM_SOURCES);
await isUp(stack);

afterAll(async () => {
  await stack?.[Symbol.asyncDispose]();
  await home?.[Symbol.asyncDispose]();
}, 120_000);

const processOf = (name: string) => {
  const found = stack.processes().find((process) => process.name === name);
  if (!found) throw new Error(`no ${name}`);
  return found;
};

describe("a stack that says it is up", () => {
  test("accepts the key in dev.env, which only its owner may read", async () => {
    expect(Object.keys(stack.variables()).sort()).toEqual([
      ...[
        "PARLEY_API_KEY",
        "PARLEY_CARRIER_URL",
        "PARLEY_CONVERSATION_ADDRESS",
        "PARLEY_DAILY_URL",
        "PARLEY_MODEL_URL",
        "PARLEY_OWNER_EMAIL",
        "PARLEY_OWNER_ID",
      ],
      ...["PARLEY_OWNER_PASSWORD", "PARLEY_SIP_ADDRESS", "PARLEY_SPEECH_URL", "PARLEY_URL", "PARLEY_WHATSAPP_URL"],
    ]);
    expect(stack.variables().PARLEY_URL).toBe(stack.url);
    expect(statSync(join(home.path, "dev.env")).mode & 0o777).toBe(0o600);
    expect(await stack.call()).toBe(200);
  });

  test("names every process and its address in stack.json", () => {
    const processes = stack.processes();
    expect(processes.map(({ name }) => name).sort()).toEqual(NAMES);
    for (const { name, pid, address } of processes) {
      expect(isAlive(pid)).toBe(true);
      expect(address).toMatch(
        ["gateway", "model", "speech", "carrier", "whatsapp", "daily"].includes(name)
          ? /^127\.0\.0\.1:\d+$/
          : /^unix:\/.*/,
      );
    }
  });

  test("prints a command that works when pasted", async () => {
    const command = stack.output().match(/^ {2}(\. \S+ && curl .*)$/m)?.[1] ?? "";
    const shell = Bun.spawn(["bash", "-c", command], { cwd: join(import.meta.dir, "../.."), stdout: "pipe" });
    expect(await new Response(shell.stdout).json()).toMatchObject({ total: 0 });
  });

  test("refuses a second one in its home with one sentence", async () => {
    await using second = runStack(home.path, await freePort());
    expect(await second.supervisor.exited).toBe(1);
    expect(second.output()).toContain(`Another stack is running in ${home.path} (pid ${stack.supervisor.pid})`);
    expect(isAlive(processOf("gateway").pid)).toBe(true);
  });

  test("refuses a second one on its port with one sentence", async () => {
    await using other = await temporaryHome("open");
    await using second = runStack(other.path, Number(new URL(stack.url).port));
    expect(await second.supervisor.exited).toBe(1);
    expect(second.output()).toContain(`Port ${new URL(stack.url).port} of 127.0.0.1 is not free: set another PORT`);
  });
});

describe("a process that is killed", () => {
  test.each(["conversation", "gateway", "redis", "model", "postgres"])(
    "%s comes back at its address with its new pid in stack.json, and the stack recovers",
    async (name) => {
      const before = processOf(name);
      process.kill(before.pid, "SIGKILL");
      await eventually(() => {
        expect(processOf(name)).toEqual({ ...before, pid: expect.any(Number) });
        expect(processOf(name).pid).not.toBe(before.pid);
        expect(stack.output()).toContain(`${name} is back`);
      }, WITHIN_MS);
      expect(stack.output()).toContain(`${name} ended (SIGKILL)`);
      await eventually(async () => expect(await stack.call()).toBe(200), WITHIN_MS);
    },
    WITHIN_MS * 2,
  );
});

describe("a stack that is killed and started again, with two replicas of each process", () => {
  let variables: Record<string, string>;
  let pids: number[];

  beforeAll(async () => {
    variables = stack.variables();
    pids = stack.processes().map(({ pid }) => pid);
    stack.supervisor.kill("SIGKILL");
    stack = runStack(home.path, Number(new URL(stack.url).port), { PARLEY_REPLICAS: "2" });
    await isUp(stack);
  }, 120_000);

  test("has left no process, and has the same owner, key and model", async () => {
    expect(pids.filter(isAlive)).toEqual([]);
    expect(stack.variables()).toEqual(variables);
    expect(await stack.call()).toBe(200);
  });

  describe.skipIf(process.getuid?.() !== 0 || process.platform !== "linux")("another user of the machine", () => {
    test("reaches the gateway, the stand-ins, SIP and the media WebSockets of a stack, and none of its other processes", () => {
      const processes = stack.processes();
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
      const processes = stack.processes();
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
        .flatMap((folder) => readdirSync(join(home.path, folder), { withFileTypes: true }))
        .filter((entry) => entry.isFile())
        .map((entry) => join(entry.parentPath, entry.name));
      expect(files.map((file) => file.slice(home.path.length + 1))).toEqual(
        expect.arrayContaining(["dev.env", "installation.json", "stack.json", "supervisor.json", "logs/agent.log"]),
      );
      const script = `for (const file of ${JSON.stringify(files)})
        try { require("node:fs").closeSync(require("node:fs").openSync(file)); console.log(file); } catch {}`;
      expect(asNobody(script)).toBe("");
    });
  });
});

test("a stack that is interrupted leaves no process and no stack.json after Ctrl-C", async () => {
  const pids = stack.processes().map(({ pid }) => pid);
  expect(await interrupt(stack)).toBe(0);
  expect(pids.filter(isAlive)).toEqual([]);
  expect(() => stack.processes()).toThrow();
});
