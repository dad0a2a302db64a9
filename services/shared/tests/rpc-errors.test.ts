import { expect, test } from "bun:test";
import { readFile } from "node:fs/promises";
import { Metadata, status } from "@grpc/grpc-js";
import { createTestDatabase, EMPTY_TEMPLATE } from "@parley/testkit/database";
import { failureOf } from "@parley/testkit/failures";
import { freePort } from "@parley/testkit/network/free-port";
import { openDatabase } from "../src/db/database.ts";
import { type ErrorKind, ServiceError } from "../src/errors.ts";
import { createClient } from "../src/rpc/client.ts";
import { fromStatus } from "../src/rpc/status.ts";
import { nodePath, startChild } from "./fixtures/child.ts";
import { serveTest } from "./fixtures/serve-test.ts";
import { serveTrailers } from "./fixtures/serve-trailers.ts";
import { TestService } from "./fixtures/test-service.ts";

const KINDS = Object.keys({
  invalid: true,
  condition: true,
  unauthenticated: true,
  forbidden: true,
  not_found: true,
  conflict: true,
  rate_limited: true,
  upstream_failed: true,
  upstream_timeout: true,
  unavailable: true,
  deadline: true,
  cancelled: true,
  unimplemented: true,
  internal: true,
} satisfies Record<ErrorKind, true>) as ErrorKind[];

test.each([
  ["triggered by internal client error: ECONNABORTED: software caused connection abort, read", "unavailable"],
  ["triggered by internal client error: read EHOSTUNREACH", "unavailable"],
  ["(Internal server error)", "internal"],
] as const)(
  "a call that ended with reset %s is reported as %s: only a broken connection is worth a retry",
  (why, kind) => {
    const facts = {
      code: status.INTERNAL,
      details: `Received RST_STREAM with code 2 ${why}`,
      metadata: new Metadata(),
    };
    expect(fromStatus(Object.assign(new Error("reset"), facts), "account").kind).toBe(kind);
  },
);

test.each(KINDS)("an error of kind %s crosses with all its facts, from every kind of method", async (kind) => {
  const facts = {
    retryAfterMs: 1_234.5,
    violations: [
      { path: "agent_name", message: "agent_name must be at most 100 characters" },
      { path: "llm.model_name", message: "größer als erlaubt" },
    ],
    metadata: { session_id: "0199-ü", attempt: "2" },
  };
  const sent = () => new ServiceError(kind, `What was wrong: 100 %, "ä" 😀 and\na new line`, facts);
  await using served = await serveTest({
    once: async () => {
      throw sent();
    },
    // biome-ignore lint/correctness/useYield: one that fails before its first message
    many: async function* () {
      throw sent();
    },
    collect: async () => {
      throw sent();
    },
  });
  for (const failure of [
    await failureOf(served.client.once({})),
    await failureOf(drain(served.client.many({}))),
    await failureOf(served.client.collect(forever())),
  ]) {
    expect(failure).toBeInstanceOf(ServiceError);
    expect(failure).toMatchObject({ kind, detail: sent().detail, message: sent().detail, ...facts });
  }
});

test("an error without further details arrives without them", async () => {
  await using served = await serveTest({
    once: async () => {
      throw new ServiceError("not_found", "Agent not found");
    },
  });
  const failure = await failureOf(served.client.once({}));
  expect(failure).toMatchObject({ kind: "not_found", retryAfterMs: undefined, violations: [], metadata: {} });
});

test("an unknown error arrives as internal without its cause, which is logged once", async () => {
  await using served = await serveTest({
    once: async () => {
      throw new Error("password authentication failed", { cause: "secret" });
    },
  });
  const failure = (await failureOf(served.client.once({}, { origin: { requestId: "req-1" } }))) as ServiceError;
  expect(failure).toMatchObject({ kind: "internal", detail: "An unexpected error" });
  const onWire = failure.cause as { details: string; metadata: { toJSON(): unknown } };
  expect(`${onWire.details} ${Bun.inspect(onWire.metadata.toJSON())}`).not.toMatch(/password|secret/);
  expect(served.lines).toMatchObject([
    {
      level: "error",
      rpc: TestService.once.path,
      request_id: "req-1",
      err: { message: "password authentication failed" },
    },
  ]);
});

test("a thrown non-error, before any promise, arrives as internal and is logged", async () => {
  await using served = await serveTest({
    once: () => {
      throw "thrown";
    },
    many: () => {
      throw "thrown";
    },
  });
  expect(await failureOf(served.client.once({}))).toMatchObject({ kind: "internal" });
  expect(await failureOf(drain(served.client.many({})))).toMatchObject({ kind: "internal" });
  expect(served.lines).toMatchObject([
    { level: "error", err: "thrown" },
    { level: "error", err: "thrown" },
  ]);
});

test("an internal error passes a hop without being logged there again", async () => {
  await using far = await serveTest({
    once: async () => {
      throw new Error("broken");
    },
  });
  await using near = await serveTest({ once: (request, call) => far.client.once(request, { origin: call }) });
  expect(await failureOf(near.client.once({}))).toMatchObject({ kind: "internal", detail: "An unexpected error" });
  expect([far.lines.length, near.lines.length]).toEqual([1, 0]);
});

test("a response that cannot be encoded is internal, and logged", async () => {
  const unencodable = { n: 1n };
  await using served = await serveTest({
    once: async () => unencodable,
    many: async function* () {
      yield { n: 1 };
      yield unencodable;
    },
  });
  expect(await failureOf(served.client.once({}))).toMatchObject({ kind: "internal", detail: "An unexpected error" });
  expect(await failureOf(drain(served.client.many({})))).toMatchObject({
    kind: "internal",
    detail: "An unexpected error",
  });
  const unserializable = { type: "TypeError", message: expect.stringContaining("BigInt") };
  expect(served.lines).toMatchObject([{ err: unserializable }, { err: unserializable }]);
});

test("a detail that cannot be sent unchanged still arrives: a lone surrogate is replaced, a very long text is cut", async () => {
  const details = { half: "agent \ud83d not found", endless: "ü".repeat(100_000) };
  await using served = await serveTest({
    once: async ({ name }) => {
      const message = details[name as keyof typeof details];
      throw new ServiceError("invalid", message, {
        violations: Array.from({ length: 500 }, () => ({ path: "p", message })),
      });
    },
  });
  expect(await failureOf(served.client.once({ name: "half" }))).toMatchObject({
    kind: "invalid",
    detail: "agent \ufffd not found",
  });
  const endless = (await failureOf(served.client.once({ name: "endless" }))) as ServiceError;
  expect(endless).toMatchObject({ kind: "invalid", detail: `${"ü".repeat(1_999)}…`, violations: [] });
  // The connection still works.
  expect(await failureOf(served.client.once({ name: "half" }))).toMatchObject({ kind: "invalid" });
});

test("where nothing listens, a call is unavailable and says when to retry", async () => {
  const client = createClient(TestService, { peer: "agent", address: `127.0.0.1:${await freePort()}` });
  for (const failure of [
    await failureOf(client.once({})),
    await failureOf(drain(client.many({}))),
    await failureOf(client.collect(forever())),
  ]) {
    expect(failure).toMatchObject({
      kind: "unavailable",
      detail: "The agent service is unreachable. Try again.",
      retryAfterMs: 1_000,
    });
  }
  client.close();
});

test("a call that a closing connection refused is retried, but not forever", async () => {
  const refusing = (refusals: number) => startChild("./refusing-server.mjs", [String(refusals)], nodePath());
  const clientOf = ({ address }: { address: string }) => createClient(TestService, { peer: "test", address });
  using unaryRefuser = await refusing(3);
  using streamRefuser = await refusing(3);
  using stubbornRefuser = await refusing(4);
  const [unary, stream, stubborn] = [clientOf(unaryRefuser), clientOf(streamRefuser), clientOf(stubbornRefuser)];
  expect(await unary.once({})).toEqual({ calls: 4 });
  expect(await Array.fromAsync(stream.many({}))).toEqual([{ calls: 4 }]);
  expect(await failureOf(stubborn.once({}))).toMatchObject({ kind: "unavailable" });
  for (const client of [unary, stream, stubborn]) client.close();
});

test("with foreign error details, or none, the status decides the kind", async () => {
  for (const details of ["AA==", Buffer.from("not a status").toString("base64"), ""]) {
    const server = await serveTrailers({
      "grpc-status": "5",
      "grpc-message": "gone",
      "grpc-status-details-bin": details,
    });
    const client = createClient(TestService, { peer: "agent", address: server.address });
    expect(await failureOf(client.once({}))).toMatchObject({ kind: "not_found", detail: "The agent service failed" });
    client.close();
    await server.stop();
  }
});

test("calls that run when their server is killed end as unavailable, after what had arrived", async () => {
  using server = await startChild("./hanging-server.ts");
  const client = createClient(TestService, { peer: "test", address: server.address });
  const stream = client.many({})[Symbol.asyncIterator]();
  expect((await stream.next()).value).toEqual({ n: 0 });
  const sent = Promise.withResolvers<void>();
  const collecting = failureOf(client.collect(oneThenSilence(sent.resolve)));
  const once = failureOf(client.once({}));
  await sent.promise;
  server.process.kill("SIGKILL");
  for (const failure of [await once, await collecting, await failureOf(stream.next())]) {
    expect(failure).toMatchObject({ kind: "unavailable", retryAfterMs: 1_000 });
  }
  client.close();
});

test("an unreachable database is unavailable, a missing file is not", async () => {
  const db = openDatabase({ url: `postgres://nobody:x@127.0.0.1:${await freePort()}/none`, name: "rpc-errors-test" });
  await using served = await serveTest({
    once: async ({ what }) => {
      if (what === "query") await db`select 1`;
      else if (what === "transaction") await db.begin((tx) => tx`select 1`);
      else await readFile("/nowhere/at/all");
      return {};
    },
  });
  for (const what of ["query", "transaction"]) {
    expect(await failureOf(served.client.once({ what }))).toMatchObject({
      kind: "unavailable",
      detail: "The database is unreachable. Try again.",
      retryAfterMs: 1_000,
    });
  }
  expect(await failureOf(served.client.once({ what: "file" }))).toMatchObject({ kind: "internal" });
  expect(served.lines.map((line) => line.level)).toEqual(["warn", "warn", "error"]);
  await db.end();
});

test("a statement that exceeds its timeout is reported as out of time", async () => {
  const database = await createTestDatabase(EMPTY_TEMPLATE);
  const db = openDatabase({ url: `${database.urls.prompt}?statement_timeout=10`, name: "rpc-errors-test" });
  await using served = await serveTest({
    once: async () => {
      await db`select pg_sleep(5)`;
      return {};
    },
  });
  expect(await failureOf(served.client.once({}))).toMatchObject({ kind: "deadline" });
  await db.end();
  await database.drop();
});

async function drain(stream: AsyncIterable<unknown>): Promise<void> {
  for await (const _message of stream);
}

async function* forever() {
  for (let n = 0; ; n++) {
    yield { n };
    await Bun.sleep(1);
  }
}

async function* oneThenSilence(silent: () => void) {
  yield { n: 1 };
  silent();
  await new Promise(() => {});
}
