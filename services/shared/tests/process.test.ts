import { expect, test } from "bun:test";
import { dirname, join } from "node:path";
import { eventually } from "@parley/testkit/eventually";
import { freePort } from "@parley/testkit/network/free-port";
import type { LogLine } from "@parley/testkit/recorded-log";
import { serveAdmin } from "../src/process/admin.ts";
import { createClient } from "../src/rpc/client.ts";
import { TestService } from "./fixtures/test-service.ts";

/** A process may start slowly where many tests run at once. */
const START_MS = 25_000;

test.each(["SIGTERM", "SIGINT"] as const)(
  "on %s a process lets its running call end and exits with 0",
  async (signal) => {
    using started = start("serving");
    const client = createClient(TestService, { peer: "test", address: await started.address() });
    const answer = client.once({ n: 1 }, { timeoutMs: 20_000 });
    await eventually(() => expect(started.messages()).toContain("called"));
    // An impatient operator may repeat the signal: the process stops once.
    for (let times = 0; times < 3; times++) started.child.kill(signal);
    expect(await answer).toEqual({ n: 1 });
    expect(await started.child.exited).toBe(0);
    expect(started.messages()).toEqual(["listening", "called", "stopping", "rpc"]);
    client.close();
  },
);

test("a configuration error is one log line without a stack, and the process exits with 78", async () => {
  using started = start("misconfigured");
  expect(await started.child.exited).toBe(78);
  await eventually(() =>
    expect(started.lines).toMatchObject([{ level: "fatal", msg: "The environment is invalid:\n  PORT: is missing" }]),
  );
  expect(started.lines[0]).not.toHaveProperty("err");
});

test("an unknown log level is a configuration error", async () => {
  using started = start("serving", { PARLEY_LOG_LEVEL: "loud" });
  expect(await started.child.exited).toBe(78);
  await eventually(() => expect(started.messages()).toEqual([expect.stringContaining('PARLEY_LOG_LEVEL: "loud"')]));
});

test("a process that cannot start says why and exits with 1", async () => {
  using started = start("broken");
  expect(await started.child.exited).toBe(1);
  await eventually(() =>
    expect(started.lines).toMatchObject([{ level: "fatal", msg: "cannot start", err: { message: "no database" } }]),
  );
});

test("an uncaught error is logged and ends the process, so that its supervisor starts a clean one", async () => {
  using started = start("serving");
  const client = createClient(TestService, { peer: "test", address: await started.address() });
  await client.collect((async function* () {})());
  expect(await started.child.exited).toBe(1);
  await eventually(() =>
    expect(started.lines.at(-1)).toMatchObject({
      level: "fatal",
      msg: "fault",
      err: { message: "nobody caught this" },
    }),
  );
  client.close();
});

test("`health` tells whether the process of the same environment takes requests", async () => {
  const env = { PARLEY_ADMIN_LISTEN: `127.0.0.1:${await freePort()}` };
  const health = () => start("health", env).child.exited;
  expect(await health()).toBe(1);
  using started = start("serving", env);
  await started.address();
  expect(await health()).toBe(0);
  started.child.kill("SIGTERM");
  await started.child.exited;
  expect(await health()).toBe(1);
});

test("a health check of any process loads a handful of small files and no library", async () => {
  const mains = ["gateway/src/main.ts", ...new Bun.Glob("services/*/src/main.ts").scanSync(CHECKOUT)];
  expect(mains).toHaveLength(9);
  for (const main of mains) {
    const loaded = await loadedAtOnce(join(CHECKOUT, main));
    expect({ main, libraries: loaded.filter((path) => path.includes("node_modules")) }).toEqual({
      main,
      libraries: [],
    });
    expect(loaded.length).toBeLessThan(8);
  }
});

test("the admin port reports the process as live, and as ready only while it is", async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  const admin = await serveAdmin(listen, async () => "one 1\n");
  const statuses = () =>
    Promise.all(["/healthz", "/readyz", "/else"].map(async (path) => (await fetch(`http://${listen}${path}`)).status));
  expect(await (await fetch(`http://${listen}/metrics`)).text()).toBe("one 1\n");
  expect(await statuses()).toEqual([200, 503, 404]);
  admin.setReady(true);
  expect(await statuses()).toEqual([200, 200, 404]);
  admin.setReady(false);
  expect(await statuses()).toEqual([200, 503, 404]);
});

test("a stopping process is live but not ready until its calls have ended", async () => {
  const listen = `127.0.0.1:${await freePort()}`;
  using started = start("serving", { PARLEY_ADMIN_LISTEN: listen });
  const client = createClient(TestService, { peer: "test", address: await started.address() });
  const stream = client.many({})[Symbol.asyncIterator]();
  await stream.next();
  const statuses = () =>
    Promise.all(["/healthz", "/readyz"].map(async (path) => (await fetch(`http://${listen}${path}`)).status));
  expect(await statuses()).toEqual([200, 200]);
  started.child.kill("SIGTERM");
  await eventually(async () => expect(await statuses()).toEqual([200, 503]));
  await stream.return?.();
  expect(await started.child.exited).toBe(0);
  client.close();
});

test.each(["everywhere", "127.0.0.1:65536", ":80"])("the admin address %j is a configuration error", async (listen) => {
  using started = start("serving", { PARLEY_ADMIN_LISTEN: listen });
  expect(await started.child.exited).toBe(78);
  await eventually(() =>
    expect(started.messages()).toEqual([`PARLEY_ADMIN_LISTEN: "${listen}" is neither host:port nor unix:path`]),
  );
});

const CHECKOUT = join(import.meta.dir, "../../..");
const transpiler = new Bun.Transpiler({ loader: "ts" });

/** A file and all that it imports before it runs, directly or through others. */
async function loadedAtOnce(path: string, loaded = new Set<string>()): Promise<string[]> {
  if (loaded.has(path)) return [];
  loaded.add(path);
  if (path.endsWith(".ts") && !path.includes("node_modules"))
    for (const found of transpiler.scanImports(await Bun.file(path).text()))
      if (found.kind === "import-statement") await loadedAtOnce(Bun.resolveSync(found.path, dirname(path)), loaded);
  return [...loaded];
}

/** The log is read as it is written, so it may lag behind the exit. */
function start(what: string, env: Record<string, string> = {}) {
  const script = new URL("fixtures/process.ts", import.meta.url).pathname;
  const child = Bun.spawn([process.execPath, script, what], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines: LogLine[] = [];
  void collect(child.stdout, lines);
  return {
    child,
    lines,
    [Symbol.dispose]: () => child.kill("SIGKILL"),
    messages: () => lines.map((line) => line.msg),
    address: () =>
      eventually(() => {
        const listening = lines.find((line) => line.msg === "listening");
        if (!listening) throw new Error(`not listening: ${Bun.inspect(lines)}`);
        return String(listening.address);
      }, START_MS),
  };
}

async function collect(stream: ReadableStream<Uint8Array>, lines: LogLine[]): Promise<void> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = parts.pop() ?? "";
    lines.push(...parts.map((part) => JSON.parse(part)));
  }
}
