import { expect, test } from "bun:test";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { BinaryWriter } from "@bufbuild/protobuf/wire";
import { type Client, credentials, loadPackageDefinition, type ServiceDefinition } from "@grpc/grpc-js";
import { loadFileDescriptorSetFromBuffer, loadSync, type PackageDefinition } from "@grpc/proto-loader";
import { PromptServiceService } from "@parley/proto/parley/prompt/v1/prompt_service.ts";
import { eventually } from "@parley/testkit/eventually";
import { failureOf } from "@parley/testkit/failures";
import { freePort } from "@parley/testkit/network/free-port";
import { protoPath as healthProto } from "grpc-health-check";
import { ServiceError } from "../src/errors.ts";
import { silentLogger } from "../src/log.ts";
import { createClient } from "../src/rpc/client.ts";
import { serve } from "../src/rpc/server.ts";
import { serveTest } from "./fixtures/serve-test.ts";
import { TestService } from "./fixtures/test-service.ts";

/** Longer than a test may take. */
const NEVER_MS = 600_000;

test("a method without a handler answers that it is unimplemented", async () => {
  await using served = await serveTest({}, { peer: "webhook" });
  expect(await failureOf(served.client.unserved({}))).toMatchObject({
    kind: "unimplemented",
    detail: "The webhook service does not offer this yet",
  });
});

test("the standard health service reports the process and its service as serving until they stop", async () => {
  const served = await serveTest({}, { drainMs: 50 });
  const health = loaded(loadSync(healthProto, { enums: String }), "grpc.health.v1.Health", served.address);
  for (const service of ["", "parley.test.v1.TestService"]) {
    expect(await health.check({ service })).toEqual({ status: "SERVING" });
  }
  expect(await failureOf(health.check({ service: "other" }))).toMatchObject({
    details: expect.stringContaining("other"),
  });
  const watched = health.watch({ service: "" })[Symbol.asyncIterator]();
  expect((await watched.next()).value).toEqual({ status: "SERVING" });
  const unknown = health.watch({ service: "other" })[Symbol.asyncIterator]();
  expect((await unknown.next()).value).toEqual({ status: "SERVICE_UNKNOWN" });
  const stopped = served.stop();
  expect((await watched.next()).value).toEqual({ status: "NOT_SERVING" });
  expect((await unknown.next()).done).toBeTrue();
  health.close();
  await stopped;
  await served[Symbol.asyncDispose]();
});

test("reflection describes the served service, and no other, well enough to call it", async () => {
  const getPrompt = async () => ({
    prompt: {
      promptName: "greeting",
      promptVersion: 3,
      promptContent: "Hello",
      promptType: 1 as const,
      createdAt: new Date("2026-01-02T03:04:05.678Z"),
      updatedAt: undefined,
      labels: [],
    },
  });
  const server = await serve(PromptServiceService, { getPrompt }, { address: "127.0.0.1:0", log: silentLogger });
  const definition = loadSync("grpc/reflection/v1/reflection.proto", {
    includeDirs: [reflectionProtos()],
    bytes: Buffer,
  });
  const reflection = loaded(definition, "grpc.reflection.v1.ServerReflection", server.address);

  const [names] = await reflection.ask([{ listServices: "" }]);
  expect(names.listServicesResponse.service).toEqual([{ name: "parley.prompt.v1.PromptService" }]);
  const [described] = await reflection.ask([{ fileContainingSymbol: "parley.prompt.v1.PromptService" }]);
  const files: Buffer[] = described.fileDescriptorResponse.fileDescriptorProto;
  const set = files.reduce((writer, file) => writer.uint32(10).bytes(file), new BinaryWriter()).finish();
  const asReflected = loadFileDescriptorSetFromBuffer(Buffer.from(set), { enums: String, longs: Number });
  const prompts = loaded(asReflected, "parley.prompt.v1.PromptService", server.address);
  expect(await prompts.getPrompt({ owner_id: "own_1" })).toEqual({
    prompt: {
      prompt_name: "greeting",
      prompt_version: 3,
      prompt_content: "Hello",
      prompt_type: "PROMPT_TYPE_MAIN",
      created_at: { seconds: 1_767_323_045, nanos: 678_000_000 },
    },
  });
  for (const client of [reflection, prompts]) client.close();
  await server.stop();
});

test("a stop lets a running call end, and refuses new ones in the meantime", async () => {
  const [running, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  await using served = await serveTest(
    {
      once: async (request) => {
        running.resolve();
        await gate.promise;
        return request;
      },
    },
    { drainMs: NEVER_MS },
  );
  const answer = served.client.once({ n: 1 });
  await running.promise;
  const stopped = served.stop();
  expect(await failureOf(served.client.once({ n: 2 }))).toMatchObject({ kind: "unavailable" });
  const other = createClient(TestService, { peer: "test", address: served.address });
  expect(await failureOf(other.once({ n: 3 }))).toMatchObject({ kind: "unavailable" });
  other.close();
  gate.resolve();
  expect(await answer).toEqual({ n: 1 });
  await stopped;
});

test("a stop cuts off calls beyond the drain time: callers are told to retry, and handlers are cancelled", async () => {
  const fired: string[] = [];
  const hang = (name: string, signal: AbortSignal) => {
    signal.addEventListener("abort", () => fired.push(name));
    return new Promise<never>(() => {});
  };
  const served = await serveTest(
    {
      once: (_request, { signal }) => hang("once", signal),
      many: async function* (_request, { signal }) {
        yield { n: 0 };
        await hang("many", signal);
      },
    },
    { drainMs: 50 },
  );
  const stream = served.client.many({})[Symbol.asyncIterator]();
  await stream.next();
  const failures = [failureOf(served.client.once({}, { timeoutMs: NEVER_MS })), failureOf(stream.next())];
  const second = served.client.many({})[Symbol.asyncIterator]();
  await second.next();
  await served.stop();
  for (const failure of [...failures, failureOf(second.next())]) {
    expect(await failure).toMatchObject({
      kind: "unavailable",
      detail: "The service is stopping. Try again.",
      retryAfterMs: 1_000,
    });
  }
  expect(fired.toSorted()).toEqual(["many", "many", "once"]);
  await served[Symbol.asyncDispose]();
});

test("an endless stream ends when its server starts to stop, and does not delay that", async () => {
  const served = await serveTest(
    {
      many: async function* (_request, { stopping }) {
        yield { n: 0 };
        await new Promise((stop) => stopping.addEventListener("abort", stop));
        yield { n: 1 };
      },
    },
    { drainMs: NEVER_MS },
  );
  const stream = served.client.many({})[Symbol.asyncIterator]();
  await stream.next();
  const stopped = served.stop();
  expect((await stream.next()).value).toEqual({ n: 1 });
  expect((await stream.next()).done).toBe(true);
  await stopped;
  await served[Symbol.asyncDispose]();
});

test("a client finds its server again after a restart on the same address", async () => {
  const before = await serveTest({ once: async () => ({ run: 1 }) });
  expect(await before.client.once({})).toEqual({ run: 1 });
  await before.stop();
  expect(await failureOf(before.client.once({}))).toMatchObject({ kind: "unavailable" });
  await using _after = await serveTest({ once: async () => ({ run: 2 }) }, { address: before.address });
  await eventually(async () => expect(await before.client.once({})).toEqual({ run: 2 }));
  before.client.close();
});

test("calls of any kind made while a service restarts wait for it", async () => {
  const address = `127.0.0.1:${await freePort()}`;
  const client = createClient(TestService, { peer: "test", address });
  // The calls start before the server listens: by then the client has tried to connect.
  expect(await client.isReachable(50)).toBe(false);
  const answers = Promise.all([client.once({ n: 1 }), Array.fromAsync(client.many({}))]);
  const handlers = {
    once: async (request: Record<string, unknown>) => request,
    many: async function* () {
      yield { n: 2 };
    },
  };
  await using _served = await serveTest(handlers, { address });
  expect(await answers).toEqual([{ n: 1 }, [{ n: 2 }]]);
  client.close();
});

test("a client knows whether its service is reachable", async () => {
  await using served = await serveTest({});
  expect(await served.client.isReachable(20_000)).toBe(true);
  const lonely = createClient(TestService, { peer: "test", address: `127.0.0.1:${await freePort()}` });
  expect(await lonely.isReachable(50)).toBe(false);
  lonely.close();
});

test("a service can be served on a Unix socket", async () => {
  const address = `unix:${join(tmpdir(), `parley-${Bun.randomUUIDv7()}.sock`)}`;
  await using served = await serveTest({ once: async (request) => request }, { address });
  expect(served.address).toBe(address);
  expect(await served.client.once({ n: 1 })).toEqual({ n: 1 });
});

test("an address that is taken fails the start", async () => {
  await using served = await serveTest({});
  expect(await failureOf(serveTest({}, { address: served.address }))).toBeInstanceOf(Error);
});

test("the caller learns whether an answer or error is a replay", async () => {
  await using served = await serveTest({
    once: async ({ replay, fail }, call) => {
      if (replay) call.replayed = true;
      if (fail) throw new ServiceError("conflict", "no");
      return {};
    },
  });
  const told = async (request: Record<string, unknown>) => {
    let replayed = false;
    await served.client.once(request, { onReplayed: () => (replayed = true) }).catch(() => {});
    return replayed;
  };
  expect(await told({ replay: true })).toBe(true);
  expect(await told({ replay: true, fail: true })).toBe(true);
  expect(await told({})).toBe(false);
  expect(await told({ fail: true })).toBe(false);
});

interface Loaded {
  // biome-ignore lint/suspicious/noExplicitAny: what proto-loader makes has no types
  [method: string]: any;
  /** Sends requests over the bidirectional method of the reflection service. */
  // biome-ignore lint/suspicious/noExplicitAny: as above
  ask(requests: unknown[]): Promise<any[]>;
  close(): void;
}

/** A client as any other program creates it: from descriptors, without our code. */
function loaded(definition: PackageDefinition, service: string, address: string): Loaded {
  const path = service.split(".");
  // biome-ignore lint/suspicious/noExplicitAny: a tree of packages
  const Service = path.reduce((tree: any, name) => tree[name], loadPackageDefinition(definition)) as {
    new (address: string, channel: unknown): Client & Record<string, CallableFunction>;
    service: ServiceDefinition;
  };
  const client = new Service(address, credentials.createInsecure());
  const methods = Object.entries(Service.service).map(([name, { responseStream, originalName = name }]) => [
    originalName,
    responseStream
      ? client[name]?.bind(client)
      : (request: unknown) =>
          new Promise((resolve, reject) =>
            client[name]?.(request, (error: Error | null, response: unknown) =>
              error ? reject(error) : resolve(response),
            ),
          ),
  ]);
  return {
    ...Object.fromEntries(methods),
    ask: async (requests) => {
      const call = client.serverReflectionInfo?.();
      for (const request of requests) call.write(request);
      call.end();
      return Array.fromAsync(call);
    },
    close: () => client.close(),
  };
}

function reflectionProtos(): string {
  return join(require.resolve("@grpc/reflection"), "../../proto");
}
