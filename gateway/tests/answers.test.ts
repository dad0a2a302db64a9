import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "@parley/shared/testing/eventually";
import { type Answers, createAnswers } from "../src/http/answer/answers.ts";

const MIB = 1024 * 1024;
/** Everything that one owner may hold, and a service's response that takes as much, here and as JSON. */
const SHARE = 64 * MIB;
const FILLS_SHARE = SHARE / 2;
const STAYS = new AbortController().signal;
/** More than sockets buffer by themselves. */
const LONG = { text: "\u0001".repeat(5 * MIB) };

type Serve = (answers: Answers, request: Request) => Promise<Response>;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A server of long responses to one owner, each as large as the owner's share. */
function start(serve: Serve = reserved, idleTimeout = 30) {
  const answers = createAnswers();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout,
    fetch: (request) => serve(answers, request),
  });
  ends.push(() => void server.stop(true));
  const ask = (method = "GET"): Socket => {
    const socket = connect(server.port ?? 0, "127.0.0.1", () =>
      socket.write(`${method} / HTTP/1.1\r\nHost: a\r\n\r\n`),
    );
    socket.on("error", () => {});
    ends.push(() => socket.destroy());
    return socket.pause();
  };
  return { answers, ask };
}

async function reserved(answers: Answers, request: Request): Promise<Response> {
  const gone = () => request.signal;
  const reservation = await answers.reserve("own_1", SHARE, gone());
  reservation.received(FILLS_SHARE);
  return answers.json(LONG, { ownerId: "own_1", headers: new Headers(), gone, reservation });
}

/** Whether the owner has room now. */
async function hasRoom(answers: Answers, ownerId = "own_1"): Promise<boolean> {
  const gone = new AbortController();
  const granted = answers.reserve(ownerId, SHARE, gone.signal).then(
    (reservation) => {
      reservation.release();
      return true;
    },
    () => false,
  );
  await new Promise((resolve) => setImmediate(resolve));
  gone.abort();
  return granted;
}

const isTaken = (answers: Answers) => eventually(async () => expect(await hasRoom(answers)).toBe(false));
const isFree = (answers: Answers) => eventually(async () => expect(await hasRoom(answers)).toBe(true));

test("memory for a response is held until its client has read it, from its owner's share only", async () => {
  const { answers, ask } = start();
  const socket = ask();
  await isTaken(answers);
  expect(await hasRoom(answers, "own_2")).toBe(true);
  let received = 0;
  socket.on("data", (bytes: Buffer) => {
    received += bytes.length;
  });
  socket.resume();
  await isFree(answers);
  await eventually(() => expect(received).toBeGreaterThan(JSON.stringify(LONG).length));
});

test("memory for a response is released when its client leaves in the middle", async () => {
  const { answers, ask } = start();
  const socket = ask();
  await isTaken(answers);
  socket.destroy();
  await isFree(answers);
});

test("memory for a response is released when its client leaves before it", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const { answers, ask } = start(async (answers, request) => {
    const reservation = await answers.reserve("own_1", SHARE, request.signal);
    reservation.received(FILLS_SHARE);
    const left = new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    asked.resolve();
    await left;
    answer.resolve();
    return answers.json(LONG, { ownerId: "own_1", headers: new Headers(), gone: () => request.signal, reservation });
  });
  const socket = ask();
  await asked.promise;
  socket.destroy();
  await answer.promise;
  await isFree(answers);
});

test("a client that reads nothing is cut off after the connection's idle time", async () => {
  const { answers, ask } = start(reserved, 1);
  ask();
  await isTaken(answers);
  await eventually(async () => expect(await hasRoom(answers)).toBe(true), 20_000);
}, 120_000);

test("HEAD for a large response holds no memory", async () => {
  const { answers, ask } = start();
  ask("HEAD").resume();
  await eventually(async () => expect(await hasRoom(answers)).toBe(true));
});

test("a small response releases its memory at once, however much was reserved", async () => {
  const answers = createAnswers();
  const reservation = await answers.reserve("own_1", SHARE, STAYS);
  reservation.received(100);
  const to = { ownerId: "own_1", headers: new Headers(), gone: () => STAYS, reservation };
  const response = await answers.json({ text: "Hi." }, to);
  expect(await hasRoom(answers)).toBe(true);
  expect(await response.text()).toBe('{"text":"Hi."}');
});

test("the reservation shrinks to the size of the service's response", async () => {
  const answers = createAnswers();
  const first = await answers.reserve("own_1", SHARE, STAYS);
  expect(first.received(FILLS_SHARE - MIB)).toBe(true);
  expect(await hasRoom(answers)).toBe(false);
  expect(first.received(MIB)).toBe(true);
  expect(await hasRoom(answers)).toBe(true);
  first.release();
});

test("an owner's small reads do not wait for each other, however much they could have read", async () => {
  const answers = createAnswers();
  const reads = await Promise.all(Array.from({ length: 100 }, () => answers.reserve("own_1", 16 * MIB, STAYS)));
  expect(reads.map((read) => read.received(3_000))).toEqual(Array(100).fill(true));
});

test("a response that finds no room is dropped and requested again when there is room", async () => {
  const answers = createAnswers();
  const [first, second] = await Promise.all([1, 2].map(() => answers.reserve("own_1", 16 * MIB, STAYS)));
  expect(first?.received(20 * MIB)).toBe(true);
  expect(second?.received(20 * MIB)).toBe(false);
  const enlarged = second?.enlarge();
  first?.release();
  expect(await enlarged).toBe(true);
  expect(second?.received(20 * MIB)).toBe(true);
  expect(await second?.enlarge()).toBe(false);
});

test("an owner with large reads waits for as much room before the next one", async () => {
  const answers = createAnswers();
  const first = await answers.reserve("own_1", 16 * MIB, STAYS);
  first.received(16 * MIB);
  const second = await answers.reserve("own_1", 16 * MIB, STAYS);
  let isThird = false;
  const third = answers.reserve("own_1", 16 * MIB, STAYS).then(() => {
    isThird = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(isThird).toBe(false);
  second.release();
  await third;
});

test("a large response without a reservation waits until the owner's others have been read", async () => {
  const answers = createAnswers();
  const to = { ownerId: "own_1", headers: new Headers(), gone: () => STAYS, reservation: null };
  const body = { text: "a".repeat(16 * MIB) };
  const first = await answers.json(body, to);
  let isSecondThere = false;
  const second = answers.json(body, to).then((response) => {
    isSecondThere = true;
    return response;
  });
  await answers.json({ text: "small" }, to);
  expect(isSecondThere).toBe(false);
  expect(await first.json()).toEqual(body);
  expect(await (await second).json()).toEqual(body);
});

test("a large response is serialized in its owner's turns, at most a hundred KiB in each, with or without a reservation", async () => {
  for (const isReserved of [true, false]) {
    const asked: string[] = [];
    const answers = createAnswers({ next: async (ownerId) => void asked.push(ownerId) });
    const reservation = isReserved ? await answers.reserve("own_1", SHARE, STAYS) : null;
    reservation?.received(5 * MIB);
    const to = { ownerId: "own_1", headers: new Headers(), gone: () => STAYS, reservation };
    const response = await answers.json(LONG, to);
    const lengths: number[] = [];
    for await (const chunk of response.body ?? []) lengths.push((chunk as Uint8Array).length);
    expect(Math.max(...lengths)).toBeLessThanOrEqual(100 * 1024);
    // The last call finds the end.
    expect(asked).toEqual(Array(lengths.length + 1).fill("own_1"));
  }
});
