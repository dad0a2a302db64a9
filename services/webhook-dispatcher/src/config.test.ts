import { expect, test } from "bun:test";
import { readDispatcherConfig } from "./config.ts";

test("the default times are those that the documentation promises", () => {
  const key = Buffer.alloc(32, 1).toString("base64");
  const needed = { DATABASE_URL: "postgres://db", PARLEY_ENCRYPTION_KEY: key, PARLEY_CONVERSATION_ADDRESS: "h:1" };
  // The times that docs/api-reference.md#deliveries promises.
  expect(readDispatcherConfig(needed)).toMatchObject({
    PARLEY_WEBHOOK_RETRY_MS: 10_000,
    PARLEY_WEBHOOK_TIMEOUT_MS: 10_000,
  });
});
