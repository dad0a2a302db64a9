import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { RunTurnsResponse } from "@parley/proto/parley/conversation/v1/conversation_service.ts";
import { type TurnOutbox, turnOutbox } from "../src/turn/turn-outbox.ts";

const FOREVER_MS = 1e6;
const END = { error: undefined, errorReplayed: false, refused: false, toolCalls: [] };

const turn = (number: number, ownerId = "own_1") => ({ number, ownerId });

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
  outbox.tellText(turn(1), "One", true);
  expect(await next()).toEqual(["1 One"]);
  const message = next();
  for (const word of [" two", " three", " four"]) {
    outbox.tellText(turn(1), word, false);
    outbox.tellText(turn(2), word, false);
    await laterInTheLoop();
  }
  outbox.tellText(turn(3), "First", true);
  expect(await message).toEqual(["1  two three four", "2  two three four", "3 First"]);
});

test("the end of a turn, and of all turns, is urgent", async () => {
  const { outbox, next } = openOutbox(100);
  await next();
  outbox.tellText(turn(1), "One", true);
  await next();
  const message = next();
  outbox.tellText(turn(1), " two", false);
  await laterInTheLoop();
  outbox.tellEnd(turn(1), END);
  expect(await message).toEqual(["1  two."]);
  const last = next();
  outbox.tellText(turn(2), "left", false);
  await laterInTheLoop();
  outbox.end();
  expect(await last).toEqual(["2 left"]);
});

test("while few turns speak, each word leaves at once", async () => {
  const { outbox, next } = openOutbox(2);
  await next();
  for (const word of ["One", " two", " three"]) {
    const message = next();
    outbox.tellText(turn(1), word, false);
    expect(await message).toEqual([`1 ${word}`]);
  }
});

const MESSAGE_CHARACTERS = 64 * 1024;
const OWNER_CHARACTERS = 16 * 1024;

/** Ends an outbox, and reads everything that it sends. */
async function readAll(outbox: TurnOutbox) {
  outbox.end();
  const all: RunTurnsResponse[] = [];
  for await (const message of outbox.messages()) if (message.news.length > 0) all.push(message);
  const lengths = all.map(({ news }) => news.reduce((sum, { text }) => sum + text.length, 0));
  const said = (number: number) => all.flatMap(({ news }) => news).filter((each) => each.number === number);
  return { all, lengths, said, text: (number: number) => said(number).map(({ text }) => text) };
}

test("a long reply leaves in messages of 16 Ki characters, cut between words, and its end with the last of them", async () => {
  const outbox = turnOutbox("replica", () => 1, FOREVER_MS);
  const reply = "many words ".repeat(30_000);
  outbox.tellStarted(turn(1), { sessionId: "s", replayed: false });
  outbox.tellText(turn(1), reply, true);
  outbox.tellEnd(turn(1), END);
  const { lengths, said, text } = await readAll(outbox);
  expect(text(1).join("")).toBe(reply);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(OWNER_CHARACTERS);
  for (const piece of text(1)) expect(piece).toEndWith(" ");
  expect(said(1).map(({ started, end }) => [!!started, !!end])).toEqual(
    lengths.map((_, at) => [at === 0, at === lengths.length - 1]),
  );
});

test("a word that is longer than a message is cut between its characters", async () => {
  const outbox = turnOutbox("replica", () => 1, FOREVER_MS);
  const word = `x${"🎉".repeat(20_000)}`;
  outbox.tellText(turn(1), word, true);
  const { text } = await readAll(outbox);
  expect(text(1).join("")).toBe(word);
  for (const piece of text(1)) expect(piece.isWellFormed()).toBeTrue();
});

test("an owner with many long texts holds up nobody: another's word is in the next message, and no message has more than 64 Ki", async () => {
  const outbox = turnOutbox("replica", () => 300, FOREVER_MS);
  for (let number = 1; number <= 100; number++) outbox.tellText(turn(number), "word ".repeat(3_000), true);
  for (let owner = 2; owner <= 6; owner++)
    outbox.tellText(turn(100 + owner, `own_${owner}`), "word ".repeat(8_000), true);
  outbox.tellText(turn(200, "own_9"), "Hello", true);
  const { all, lengths, text } = await readAll(outbox);
  expect(Math.max(...lengths)).toBeLessThanOrEqual(MESSAGE_CHARACTERS);
  const first = all.findIndex(({ news }) => news.some(({ number }) => number === 200));
  expect(first).toBeLessThanOrEqual(1);
  for (let number = 1; number <= 100; number++) expect(text(number).join("")).toHaveLength(15_000);
});

test("tools of a turn keep their place among its words, also where a long text is cut", async () => {
  const outbox = turnOutbox("replica", () => 1, FOREVER_MS);
  const told: string[] = [];
  const tell = (word: string) => {
    told.push(word);
    outbox.tellText(turn(1), word, true);
  };
  const tellTool = (toolCallId: string) => {
    told.push(`[${toolCallId}]`);
    outbox.tellTool(turn(1), { toolCallId, event: { $case: "answered", value: { result: "r", isError: false } } });
  };
  tellTool("before");
  for (let step = 0; step < 40; step++) {
    tell("many words ".repeat(100));
    tellTool(`${step}`);
  }
  outbox.tellEnd(turn(1), END);
  const { said } = await readAll(outbox);
  const heard = said(1).flatMap(({ text, tools }) => {
    const ends = [0, ...tools.map(({ offset }) => offset), text.length];
    return ends
      .slice(1)
      .map((end, at) => `${text.slice(ends[at], end)}${tools[at] ? `[${tools[at].toolCallId}]` : ""}`);
  });
  expect(heard.join("")).toBe(told.join(""));
  expect(said(1).length).toBeGreaterThan(1);
});
