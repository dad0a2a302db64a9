import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { RunTurnsResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { turnOutbox } from "../src/rpc/turn-outbox.ts";

const FOREVER_MS = 1e6;
const END = { error: undefined, errorReplayed: false, refused: false };

/** An outbox whose messages are read as they leave. */
function openOutbox(turnsUnderWay: number) {
  const outbox = turnOutbox("replica", () => turnsUnderWay, FOREVER_MS);
  const messages = outbox.messages();
  /** What the next message says about each turn. */
  const next = async () => {
    const { value } = (await messages.next()) as { value: RunTurnsResponse };
    return value.news.map(({ number, text, end }) => `${number} ${text}${end ? "." : ""}`);
  };
  return { outbox, next };
}

const laterInTheLoop = async () => {
  for (let turn = 0; turn < 5; turn++) await setImmediate();
};

test("while many turns speak, their further words wait for what is urgent and leave with it, in order", async () => {
  const { outbox, next } = openOutbox(100);
  expect(await next()).toEqual([]);
  outbox.tellText(1, "One", true);
  expect(await next()).toEqual(["1 One"]);
  const message = next();
  for (const word of [" two", " three", " four"]) {
    outbox.tellText(1, word, false);
    outbox.tellText(2, word, false);
    await laterInTheLoop();
  }
  outbox.tellText(3, "First", true);
  expect(await message).toEqual(["1  two three four", "2  two three four", "3 First"]);
});

test("the end of a turn, and of all turns, is urgent", async () => {
  const { outbox, next } = openOutbox(100);
  await next();
  outbox.tellText(1, "One", true);
  await next();
  const message = next();
  outbox.tellText(1, " two", false);
  await laterInTheLoop();
  outbox.tellEnd(1, END);
  expect(await message).toEqual(["1  two."]);
  const last = next();
  outbox.tellText(2, "left", false);
  await laterInTheLoop();
  outbox.end();
  expect(await last).toEqual(["2 left"]);
});

test("while few turns speak, each word leaves at once", async () => {
  const { outbox, next } = openOutbox(2);
  await next();
  for (const word of ["One", " two", " three"]) {
    const message = next();
    outbox.tellText(1, word, false);
    expect(await message).toEqual([`1 ${word}`]);
  }
});
