import { expect, test } from "bun:test";
import { csvCallsOf } from "./batch-calls.ts";

test("the CSV of a client that has left is not read on", async () => {
  const csv = `to_mobile_number\n${"+14155550123\n".repeat(10_000)}`;
  expect(await csvCallsOf(csv, new AbortController().signal)).toHaveLength(10_000);
  const left = new AbortController();
  const calls = csvCallsOf(csv, left.signal);
  setImmediate(() => left.abort());
  expect(await calls.catch(({ kind }) => kind)).toBe("cancelled");
});
