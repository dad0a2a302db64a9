import { expect, test } from "bun:test";
import { createMailbox } from "./mailbox.ts";

async function readAll(mailbox: AsyncIterable<string>): Promise<string[]> {
  return Array.fromAsync(mailbox);
}

test("texts are read in order, each once, followed by the end", async () => {
  const mailbox = createMailbox("*");
  for (const text of ["a", "b", "a"]) mailbox.put(text);
  mailbox.close();
  expect(await readAll(mailbox)).toEqual(["a", "b"]);
});

test("a text that was read can be put and read again", async () => {
  const mailbox = createMailbox("*");
  const reader = mailbox[Symbol.asyncIterator]();
  for (let round = 0; round < 3; round++) {
    mailbox.put("a");
    expect((await reader.next()).value).toBe("a");
  }
});

test("a waiting reader is woken", async () => {
  const mailbox = createMailbox("*");
  const reading = readAll(mailbox);
  await Promise.resolve();
  mailbox.put("a");
  await Promise.resolve();
  mailbox.close();
  expect(await reading).toEqual(["a"]);
});

test("an overflow replaces the waiting texts with the overflow text", async () => {
  const mailbox = createMailbox("*", 2);
  for (const text of ["a", "b", "c", "d"]) mailbox.put(text);
  mailbox.close();
  expect(await readAll(mailbox)).toEqual(["*", "d"]);
});

test("closing with an error delivers the remaining texts, then the error; only the first close counts", async () => {
  const mailbox = createMailbox("*");
  mailbox.put("a");
  mailbox.close(new Error("first"));
  mailbox.close(new Error("second"));
  const reader = mailbox[Symbol.asyncIterator]();
  expect((await reader.next()).value).toBe("a");
  expect(await reader.next().catch((error: Error) => error.message)).toBe("first");
});
