import { afterEach, beforeEach, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BackOff } from "@parley/dev/processes/back-off.ts";
import { type Events, type Kept, keepRunning, type Program } from "@parley/dev/processes/keep-running.ts";
import { identify } from "@parley/dev/processes/process-table.ts";
import { eventually } from "@parley/testkit/eventually";

const SOON: BackOff = { firstMs: 1, factor: 1, maxMs: 1, resetAfterMs: 60_000 };

let folder: string;
let kept: Kept | null;
let pids: number[];
let ends: string[];
let returns: number;

const events: Events = {
  started: (_, pid) => pids.push(pid),
  ended: (_, how, words) => ends.push(`${how}: ${words}`),
  back: () => returns++,
};

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "parley-keep-"));
  kept = null;
  pids = [];
  ends = [];
  returns = 0;
});

afterEach(async () => {
  await kept?.stop();
  await rm(folder, { recursive: true, force: true });
});

const never = () => Promise.reject(new Error("silent"));

function program(script: string, ping = async () => {}): Program {
  const command = { args: ["sh", "-c", script], log: join(folder, "log"), stopSignal: "SIGTERM" } as const;
  return { name: "probe", address: "127.0.0.1:1", command, ping, stopWithinMs: 200 };
}

test("a program that is kept running is restarted when it is killed, with a message", async () => {
  kept = keepRunning(program("sleep 1000"), events, SOON);
  await kept.answers;
  process.kill(pids[0] ?? 0, "SIGKILL");
  await eventually(() => expect(returns).toBe(1));
  expect(pids).toHaveLength(2);
  expect(ends).toEqual(["SIGKILL: "]);
});

test("a program that is kept running is given up with its last message when it never answered", async () => {
  kept = keepRunning(
    program(`echo '{"msg":"cannot start","err":{"message":"no database"}}'; exit 7`, never),
    events,
    SOON,
  );
  expect(kept.answers).rejects.toThrow("probe does not start (exit code 7): cannot start: no database");
  await kept.answers.catch(() => {});
  expect(pids).toHaveLength(5);
});

test("a program that is kept running is given up at once when it never answered and its configuration is wrong", async () => {
  kept = keepRunning(program(`echo '{"msg":"PORT is missing"}'; exit 78`, never), events, SOON);
  expect(kept.answers).rejects.toThrow("probe does not start (exit code 78): PORT is missing");
  await kept.answers.catch(() => {});
  expect(pids).toHaveLength(1);
});

test("a program that is kept running is reported without the routine lines before its end", async () => {
  const line = (level: string, msg: string) => `echo '${JSON.stringify({ level, msg })}'`;
  const script = [line("warn", "short of memory"), line("info", "rpc"), "exit 7"].join("; ");
  kept = keepRunning(program(script), events, SOON);
  await eventually(() => expect(ends[0]).toBe("exit code 7: short of memory"));
});

test("a program that is kept running is killed when it ignores the request to stop", async () => {
  const deaf = program("trap '' TERM; echo deaf; while :; do sleep 0.01; done");
  const ping = async () => expect(await Bun.file(deaf.command.log).text()).toBe("deaf\n");
  kept = keepRunning({ ...deaf, ping }, events, SOON);
  await kept.answers;
  await kept.stop();
  expect(identify(pids[0] ?? 0)).toBeNull();
});

test("a program that is kept running is not restarted once it was told to stop", async () => {
  kept = keepRunning(program("sleep 1000"), events, SOON);
  await kept.answers;
  await kept.stop();
  expect(pids).toHaveLength(1);
  expect(ends).toEqual([]);
});

test("a program that is missing is reported like one that fails", async () => {
  const missing = program("", never);
  kept = keepRunning({ ...missing, command: { ...missing.command, args: ["no-such-program"] } }, events, SOON);
  const message = await kept.answers.then(String, (error: Error) => error.message);
  expect(message).toContain("probe does not start");
  expect(message).toContain("no-such-program");
});
