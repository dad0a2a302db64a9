import { expect, test } from "bun:test";
import { createMailbox } from "./mailbox.ts";

async function readAll(mailbox: AsyncIterable<string>): Promise<string[]> {
  return Array.fromAsync(mailbox);
}

test("what was put is read in order, each text once, then the end", async () => {
  const mailbox = createMailbox("*");
  for (const text of ["a", "b", "a"]) mailbox.put(text);
  mailbox.close();
  expect(await readAll(mailbox)).toEqual(["a", "b"]);
});

test("a text that was read is read again when it is put again", async () => {
  const mailbox = createMailbox("*");
  const reader = mailbox[Symbol.asyncIterator]();
  for (let round = 0; round < 3; round++) {
    mailbox.put("a");
    expect((await reader.next()).value).toBe("a");
  }
});

test("a reader that waits is woken", async () => {
  const mailbox = createMailbox("*");
  const reading = readAll(mailbox);
  await Promise.resolve();
  mailbox.put("a");
  await Promise.resolve();
  mailbox.close();
  expect(await reading).toEqual(["a"]);
});

test("more than fits is told as the overflow text", async () => {
  const mailbox = createMailbox("*", 2);
  for (const text of ["a", "b", "c", "d"]) mailbox.put(text);
  mailbox.close();
  expect(await readAll(mailbox)).toEqual(["*", "d"]);
});

test("a close with an error gives what was put before, then the error, and the first close counts", async () => {
  const mailbox = createMailbox("*");
  mailbox.put("a");
  mailbox.close(new Error("first"));
  mailbox.close(new Error("second"));
  const reader = mailbox[Symbol.asyncIterator]();
  expect((await reader.next()).value).toBe("a");
  expect(await reader.next().catch((error: Error) => error.message)).toBe("first");
});
