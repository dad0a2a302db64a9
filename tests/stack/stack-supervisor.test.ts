import { expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Program } from "@parley/dev/processes/keep-running.ts";
import { supervise } from "@parley/dev/processes/supervisor.ts";
import { openHome } from "@parley/dev/stack/home.ts";
import { lockHome } from "@parley/dev/stack/lock.ts";

const STOP_WITHIN_MS = 60_000;

test("programs that call others start with them, and have ended before those are stopped", async () => {
  const folder = await mkdtemp(join(tmpdir(), "parley-supervisor-"));
  const home = openHome(folder);
  const lock = await lockHome(home);
  const ends = join(folder, "ends");
  const started: string[] = [];
  const supervisor = supervise(home, lock, (line) => started.push(line.split(" ")[0] ?? ""));
  /** Says that it has ended some time after it is told to. */
  const program = (name: string, seconds: number): Program => {
    const script = `trap 'sleep ${seconds}; echo ${name} >> ${ends}; exit 0' TERM; touch ${join(folder, name)}; while :; do sleep 0.05; done`;
    const command = { args: ["sh", "-c", script], log: join(folder, `${name}.log`), stopSignal: "SIGTERM" } as const;
    const ping = async () => {
      if (!(await Bun.file(join(folder, name)).exists())) throw new Error("silent");
    };
    return { name, address: "127.0.0.1:1", command, ping, stopWithinMs: STOP_WITHIN_MS };
  };
  try {
    await supervisor.start([program("called", 0), program("alone", 0)], [program("calling", 0.3)]);
    expect(started.toSorted()).toEqual(["alone", "called", "calling"]);
    await supervisor.stop();
    const [first, ...others] = (await Bun.file(ends).text()).trim().split("\n");
    expect([first, others.toSorted()]).toEqual(["calling", ["alone", "called"]]);
  } finally {
    await supervisor.stop();
    lock.release();
    await rm(folder, { recursive: true, force: true });
  }
});
