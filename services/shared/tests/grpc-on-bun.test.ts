import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Client, status } from "@grpc/grpc-js";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { failureOf } from "@parley/testkit/failures";
import { silentLogger } from "../src/log.ts";
import { serve } from "../src/rpc/server.ts";
import { nodePath, startChild } from "./fixtures/child.ts";
import { RAW_ECHO, rawClient, serveRawEcho } from "./fixtures/raw-echo.ts";

// What the tests of our adapters do not show of grpc-js on Bun's http2.

const asIs = (bytes: Buffer) => bytes;

const echo = await serveRawEcho();
const client = rawClient(echo.address);
afterAll(() => {
  client.close();
  echo.stop();
});

test("a thousand concurrent calls over one connection each get their own answer", async () => {
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async (_, i) => String(await once(client, Buffer.from(String(i))))),
  );
  expect(answers).toEqual(Array.from({ length: 1_000 }, (_, i) => String(i)));
});

test("a client on Node is served like one on Bun", async () => {
  const script = new URL("fixtures/node-client.mjs", import.meta.url).pathname;
  const child = Bun.spawn([nodePath(), script, echo.address], { stdout: "pipe", stderr: "inherit" });
  expect(JSON.parse(await child.stdout.text())).toEqual({
    runtime: "node",
    once: ["one", "of node"],
    many: ["0", "1", "2"],
    collect: "ab",
    both: ["x", "y"],
  });
  expect(await child.exited).toBe(0);
});

test("an async handler that rejects ends a bare grpc-js process, and none that uses our adapter", async () => {
  using raw = await startChild("./rejecting-server.ts", ["raw"]);
  const rawCaller = rawClient(raw.address);
  const path = "/parley.test.v1.TestService/Once";
  expect(await failureOf(once(rawCaller, Buffer.from("{}"), path))).toMatchObject({
    code: status.UNAVAILABLE,
  });
  expect(await raw.process.exited).toBe(1);

  using adapted = await startChild("./rejecting-server.ts", ["adapted"]);
  const caller = rawClient(adapted.address);
  for (let i = 0; i < 2; i++) {
    expect(await failureOf(once(caller, Buffer.from("{}"), path))).toMatchObject({
      code: status.INTERNAL,
    });
  }
  expect(adapted.process.exitCode).toBeNull();
  rawCaller.close();
  caller.close();
});

test("a generated stub works inside a compiled binary", async () => {
  const getPrompt = async () => ({ prompt: undefined });
  const server = await serve(PromptServiceService, { getPrompt }, { address: "127.0.0.1:0", log: silentLogger });
  const folder = await mkdtemp(join(tmpdir(), "parley-compiled-"));
  const binary = join(folder, "stub");
  const script = new URL("fixtures/static-stub.ts", import.meta.url).pathname;
  const compiler = Bun.spawn([process.execPath, "build", "--compile", "--outfile", binary, script], {
    stdout: "ignore",
  });
  expect(await compiler.exited).toBe(0);
  const child = Bun.spawn([binary, server.address], { stdout: "pipe" });
  expect(JSON.parse(await child.stdout.text())).toEqual({});
  await rm(folder, { recursive: true });
  await server.stop();
});

function once(from: Client, request: Buffer, path = RAW_ECHO.once.path): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    from.makeUnaryRequest(path, asIs, asIs, request, (error, response?: Buffer) =>
      error ? reject(error) : resolve(response),
    );
  });
}
