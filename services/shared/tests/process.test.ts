import { expect, test } from "bun:test";
import { createClient } from "../src/rpc/client.ts";
import { eventually } from "../src/testing/eventually.ts";
import type { LogLine } from "./fixtures/recorded-log.ts";
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
    started.child.kill(signal);
    expect(await answer).toEqual({ n: 1 });
    expect(await started.child.exited).toBe(0);
    expect(started.messages()).toEqual(["listening", "called", "stopping"]);
    client.close();
  },
);

test("a wrong configuration is told in one line without a stack, and the process exits with 1", async () => {
  using started = start("misconfigured");
  expect(await started.child.exited).toBe(1);
  await eventually(() =>
    expect(started.lines).toMatchObject([{ level: "fatal", msg: "The environment is not right:\n  PORT: is missing" }]),
  );
  expect(started.lines[0]).not.toHaveProperty("err");
});

test("a log level that does not exist is a wrong configuration", async () => {
  using started = start("serving", { PARLEY_LOG_LEVEL: "loud" });
  expect(await started.child.exited).toBe(1);
  await eventually(() => expect(started.messages()).toEqual([expect.stringContaining('PARLEY_LOG_LEVEL: "loud"')]));
});

test("a process that cannot start says why and exits with 1", async () => {
  using started = start("broken");
  expect(await started.child.exited).toBe(1);
  await eventually(() =>
    expect(started.lines).toMatchObject([{ level: "fatal", msg: "cannot start", err: { message: "no database" } }]),
  );
});

test("a fault that nothing caught is logged and ends the process, for its supervisor to start a clean one", async () => {
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

/** What it logs is read as it comes, so it may lag behind its exit. */
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
