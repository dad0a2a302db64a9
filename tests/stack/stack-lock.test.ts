import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { identify } from "@parley/dev/processes/process-table.ts";
import { type Home, openHome } from "@parley/dev/stack/home.ts";
import { lockHome } from "@parley/dev/stack/lock.ts";

let home: Home;
const strays: Bun.Subprocess[] = [];

beforeEach(async () => {
  home = openHome(await mkdtemp(join(tmpdir(), "parley-lock-")));
});

afterEach(async () => {
  for (const stray of strays.splice(0)) stray.kill("SIGKILL");
  await rm(home.path, { recursive: true, force: true });
});

function stray(): Bun.Subprocess {
  const child = Bun.spawn(["sleep", "1000"]);
  strays.push(child);
  return child;
}

/** What a killed supervisor leaves behind. */
async function leave(supervisor: number, child: { pid: number; identity: string | null }): Promise<void> {
  const lock = {
    supervisor: { name: "supervisor", pid: supervisor, identity: identify(supervisor) ?? "gone" },
    children: [{ name: "probe", ...child }],
  };
  await writeFile(home.file("supervisor.json"), JSON.stringify(lock));
}

describe("a home", () => {
  test("is refused while another stack runs in it, naming it and what to do", async () => {
    const other = stray();
    await leave(other.pid, { pid: 0, identity: null });
    const message = await lockHome(home).then(String, (error: Error) => error.message);
    expect(message).toBe(
      `Another stack is running in ${home.path} (pid ${other.pid}): stop it, or give this one its own PARLEY_HOME and PORT`,
    );
  });

  test("is cleared of processes that a killed supervisor left running", async () => {
    const left = stray();
    await leave(2 ** 22 + 1, { pid: left.pid, identity: identify(left.pid) });
    const lock = await lockHome(home);
    expect(await left.exited).toBeGreaterThan(0);
    lock.release();
  });

  test("never kills a process that merely reuses the pid of one of ours", async () => {
    const innocent = stray();
    await leave(2 ** 22 + 1, { pid: innocent.pid, identity: "another boot:1:1" });
    const lock = await lockHome(home);
    expect(identify(innocent.pid)).not.toBeNull();
    lock.release();
  });

  test("is free again once released", async () => {
    const first = await lockHome(home);
    first.release();
    const second = await lockHome(home);
    second.release();
  });
});
