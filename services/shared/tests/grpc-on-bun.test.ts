import { afterAll, expect, test } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  type Client,
  type ClientUnaryCall,
  InterceptingCall,
  Metadata,
  ServerInterceptingCall,
  type ServerInterceptor,
  type ServiceError,
  type StatusObject,
  status,
} from "@grpc/grpc-js";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { silentLogger } from "../src/log.ts";
import { serve } from "../src/rpc/server.ts";
import { nodePath, startChild } from "./fixtures/child.ts";
import { RAW_ECHO, rawClient, serveRawEcho } from "./fixtures/raw-echo.ts";

// The services rely on these features of grpc-js on Bun's http2. They are tested without our adapters, so an upgrade that breaks
// one fails here.

const asIs = (bytes: Buffer) => bytes;

const echo = await serveRawEcho();
const client = rawClient(echo.address);
afterAll(() => {
  client.close();
  echo.stop();
});

test("a unary call is answered, with trailers", async () => {
  const metadata = new Metadata();
  metadata.set("x-header", "bun");
  const { response, trailers } = await once(client, Buffer.from("hello"), metadata);
  expect(String(response)).toBe("hello");
  expect(trailers?.get("x-trailer")).toEqual(["of bun"]);
});

test("a server streams, in order and to its end", async () => {
  const call = client.makeServerStreamRequest(RAW_ECHO.many.path, asIs, asIs, Buffer.from("500"));
  expect(await texts(call)).toEqual(Array.from({ length: 500 }, (_, i) => String(i)));
});

test("a client streams, and is answered once at the end", async () => {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer | undefined>();
  const call = client.makeClientStreamRequest(RAW_ECHO.collect.path, asIs, asIs, (error, response?: Buffer) =>
    error ? reject(error) : resolve(response),
  );
  for (const text of ["a", "b", "c"]) call.write(Buffer.from(text));
  call.end();
  expect(String(await promise)).toBe("abc");
});

test("both sides stream, each at its own pace", async () => {
  const call = client.makeBidiStreamRequest(RAW_ECHO.both.path, asIs, asIs);
  const answers = call[Symbol.asyncIterator]();
  for (const text of ["a", "b", "c"]) {
    call.write(Buffer.from(text));
    expect(String((await answers.next()).value)).toBe(text);
  }
  call.end();
  expect((await answers.next()).done).toBe(true);
});

test("a cancelled call ends as cancelled and notifies the server", async () => {
  const before = echo.cancelled;
  const { call, failure } = hang();
  await eventually(() => expect(echo.hanging.length).toBeGreaterThan(0));
  call.cancel();
  expect((await failure).code).toBe(status.CANCELLED);
  await eventually(() => expect(echo.cancelled).toBe(before + 1));
});

test("a deadline ends a call on both sides, and the server knows it", async () => {
  const before = { cancelled: echo.cancelled, hanging: echo.hanging.length };
  const deadline = Date.now() + 1_000;
  const { failure } = hang({ deadline });
  expect((await failure).code).toBe(status.DEADLINE_EXCEEDED);
  await eventually(() => expect(echo.cancelled).toBe(before.cancelled + 1));
  const seen = echo.hanging[before.hanging]?.getDeadline();
  expect(Number(seen)).toBeGreaterThan(deadline - 1_000);
});

test("a body of 4 MB crosses unchanged, both ways", async () => {
  const body = Buffer.from(crypto.getRandomValues(new Uint8Array(65_536)))
    .toString("hex")
    .repeat(32);
  expect(body).toHaveLength(4 * 1024 * 1024);
  const { response } = await once(client, Buffer.from(body));
  expect(response?.toString() === body).toBe(true);
});

test("a thousand concurrent calls over one connection each get their own answer", async () => {
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, async (_, i) => String((await once(client, Buffer.from(String(i)))).response)),
  );
  expect(answers).toEqual(Array.from({ length: 1_000 }, (_, i) => String(i)));
});

test("interceptors of both sides see and change a call", async () => {
  const seen: unknown[] = [];
  const onServer: ServerInterceptor = (method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, mdNext) => {
            seen.push(method.path, metadata.get("x-added")[0]);
            mdNext(metadata);
          },
        }),
      sendMessage: (message: Buffer, next) => next(Buffer.concat([message, Buffer.from("!")])),
    });
  const intercepted = await serveRawEcho(undefined, { interceptors: [onServer] });
  const intercepting = rawClient(intercepted.address, undefined, {
    interceptors: [
      (options, nextCall) =>
        new InterceptingCall(nextCall(options), {
          start: (metadata, listener, next) => {
            metadata.set("x-added", "by the client");
            next(metadata, listener);
          },
        }),
    ],
  });
  expect(String((await once(intercepting, Buffer.from("hello"))).response)).toBe("hello!");
  expect(seen).toEqual([RAW_ECHO.once.path, "by the client"]);
  intercepting.close();
  intercepted.stop();
});

test("tryShutdown lets a running call end, refuses new ones and then calls back", async () => {
  const leaving = await serveRawEcho();
  const caller = rawClient(leaving.address);
  const running = caller.makeBidiStreamRequest(RAW_ECHO.both.path, asIs, asIs);
  const answers = running[Symbol.asyncIterator]();
  running.write(Buffer.from("before"));
  expect(String((await answers.next()).value)).toBe("before");
  const down = new Promise<Error | undefined>((shut) => leaving.server.tryShutdown(shut));
  const late = rawClient(leaving.address);
  expect(await failureOf(once(late, Buffer.from("late")))).toMatchObject({ code: status.UNAVAILABLE });
  running.write(Buffer.from("after"));
  expect(String((await answers.next()).value)).toBe("after");
  running.end();
  expect((await answers.next()).done).toBe(true);
  expect(await down).toBeUndefined();
  caller.close();
  late.close();
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
  expect(await failureOf(once(rawCaller, Buffer.from("{}"), new Metadata(), path))).toMatchObject({
    code: status.UNAVAILABLE,
  });
  expect(await raw.process.exited).toBe(1);

  using adapted = await startChild("./rejecting-server.ts", ["adapted"]);
  const caller = rawClient(adapted.address);
  for (let i = 0; i < 2; i++) {
    expect(await failureOf(once(caller, Buffer.from("{}"), new Metadata(), path))).toMatchObject({
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

function once(
  from: Client,
  request: Buffer,
  metadata = new Metadata(),
  path = RAW_ECHO.once.path,
): Promise<{ response: Buffer | undefined; trailers: Metadata }> {
  return new Promise((resolve, reject) => {
    let answer: Buffer | undefined;
    from
      .makeUnaryRequest(path, asIs, asIs, request, metadata, (error, response?: Buffer) => {
        if (error) reject(error);
        answer = response;
      })
      .on("status", ({ metadata: trailers }: StatusObject) => resolve({ response: answer, trailers }));
  });
}

function hang(options = {}): { call: ClientUnaryCall; failure: Promise<ServiceError> } {
  const { promise: failure, resolve, reject } = Promise.withResolvers<ServiceError>();
  const call = client.makeUnaryRequest(
    RAW_ECHO.hang.path,
    asIs,
    asIs,
    Buffer.alloc(0),
    new Metadata(),
    options,
    (error) => (error ? resolve(error) : reject(new Error("answered"))),
  );
  return { call, failure };
}

async function texts(stream: AsyncIterable<Buffer>): Promise<string[]> {
  const all: string[] = [];
  for await (const part of stream) all.push(String(part));
  return all;
}
