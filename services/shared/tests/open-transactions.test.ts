import { afterAll, expect, test } from "bun:test";
import { createTestDatabase } from "@parley/testkit/database";
import { openDatabase } from "../src/db/database.ts";
import { batched } from "../src/rpc/batched.ts";
import { serveTest } from "./fixtures/serve-test.ts";

const read = batched(async (keys: readonly string[]) => [...keys], 10);

const database = await createTestDatabase();
const db = openDatabase({ url: database.urls.account, name: "test" });
const served = await serveTest({ once: async () => ({ answered: true }) });
afterAll(async () => {
  await served[Symbol.asyncDispose]();
  await db.end();
  await database.drop();
});

const call = async () => served.client.once({});

/** The error of work in a transaction; null if it succeeds. */
async function failureIn(work: () => Promise<unknown>, savepoint = false): Promise<string | null> {
  const inTransaction = db.begin("read only", (tx) => (savepoint ? tx.savepoint(work) : work()));
  return inTransaction.then(
    () => null,
    (error) => String(error),
  );
}

test("a call of another service in an open transaction, or a savepoint of it, fails in tests", async () => {
  const refusal = "Error: /parley.test.v1.TestService/Once is called while a database transaction is open";
  expect(await failureIn(call)).toStartWith(refusal);
  expect(await failureIn(call, true)).toStartWith(refusal);
  const later = async () => {
    await db`select 1`;
    await call();
  };
  expect(await failureIn(later)).toStartWith(refusal);
  expect(await failureIn(async () => read("x"))).toStartWith("Error: A batched read is called while");
});

test("a call before, after or beside a transaction does not fail", async () => {
  let beside = Promise.resolve<unknown>(null);
  const ended = Promise.withResolvers<void>();
  expect(
    await failureIn(async () => {
      beside = ended.promise.then(call);
    }),
  ).toBeNull();
  ended.resolve();
  expect(await beside).toEqual({ answered: true });
  const started = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const open = failureIn(() => {
    started.resolve();
    return answered.promise;
  });
  await started.promise;
  expect(await call()).toEqual({ answered: true });
  expect(await read("x")).toBe("x");
  answered.resolve();
  expect(await open).toBeNull();
});
