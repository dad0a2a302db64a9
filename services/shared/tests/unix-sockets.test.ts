import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { serveAdmin } from "../src/process/admin.ts";
import { checkReady } from "../src/process/health.ts";
import { createClient } from "../src/rpc/client.ts";
import { type Served, serveTest } from "./fixtures/serve-test.ts";
import { TestService } from "./fixtures/test-service.ts";

const folder = await mkdtemp(join(tmpdir(), "parley-unix-"));
afterAll(() => rm(folder, { recursive: true }));

/** Serves on a socket of this name and records the name with every call. */
function serveAt(name: string, calls: string[]): Promise<Served> {
  const once = async (request: Record<string, unknown>) => {
    calls.push(name);
    return request;
  };
  return serveTest({ once }, { address: `unix:${join(folder, name)}`, drainMs: 0 });
}

/** Binds a socket in another process and kills the process, so that the file stays. */
async function leaveStaleSocket(path: string): Promise<void> {
  const script = `require("node:net").createServer().listen(${JSON.stringify(path)}, () => console.log("listening"))`;
  const child = Bun.spawn([process.execPath, "-e", script], { stdout: "pipe" });
  await child.stdout.getReader().read();
  child.kill("SIGKILL");
  await child.exited;
}

test("a client balances over several sockets, skips one that is gone, and returns to it", async () => {
  const calls: string[] = [];
  const one = await serveAt("one", calls);
  await using two = await serveAt("two", calls);
  const client = createClient(TestService, {
    peer: "test",
    address: `${one.address},${two.address.slice("unix:".length)}`,
  });
  const callUntilServedBy = (...names: string[]) =>
    eventually(async () => {
      await client.once({});
      for (const name of names) expect(calls).toContain(name);
    });
  await callUntilServedBy("one", "two");
  await one[Symbol.asyncDispose]();
  calls.length = 0;
  for (let times = 0; times < 10; times++) await client.once({});
  expect(calls).toEqual(Array(10).fill("two"));
  await using _ = await serveAt("one", calls);
  await callUntilServedBy("one");
  client.close();
});

test("a server replaces a socket that a killed process left, and refuses one in use", async () => {
  await leaveStaleSocket(join(folder, "left"));
  await using served = await serveAt("left", []);
  expect(await served.client.once({ n: 1 })).toEqual({ n: 1 });
  await expect(serveAt("left", [])).rejects.toThrow();
  expect(await served.client.once({ n: 2 })).toEqual({ n: 2 });
});

test("health and metrics are served on a socket too, also where a killed process left one", async () => {
  const path = join(folder, "admin");
  await leaveStaleSocket(path);
  expect(await checkReady(`unix:${path}`)).toBe(1);
  const admin = await serveAdmin(`unix:${path}`, async () => "one 1\n");
  expect(await (await fetch("http://localhost/metrics", { unix: path })).text()).toBe("one 1\n");
  expect(await checkReady(`unix:${path}`)).toBe(1);
  admin.setReady(true);
  expect(await checkReady(`unix:${path}`)).toBe(0);
});
