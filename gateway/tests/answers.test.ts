import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "@parley/shared/testing/eventually";
import { type Answers, createAnswers } from "../src/http/answers.ts";

const MIB = 1024 * 1024;
/** All that one owner may keep. */
const SHARE = 64 * MIB;
const STAYS = new AbortController().signal;
/** More than sockets take by themselves. */
const LONG = { text: "\u0001".repeat(5 * MIB) };

type Serve = (answers: Answers, request: Request) => Promise<Response>;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

/** A server of long answers to one owner, each of which takes up the owner's share. */
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
  reservation.received(SHARE);
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

test("the room of an answer is kept until its client has read it, and only its owner's", async () => {
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

test("the room of an answer is free when its client leaves in the middle", async () => {
  const { answers, ask } = start();
  const socket = ask();
  await isTaken(answers);
  socket.destroy();
  await isFree(answers);
});

test("the room of an answer is free when its client leaves before it", async () => {
  const asked = Promise.withResolvers<void>();
  const answer = Promise.withResolvers<void>();
  const { answers, ask } = start(async (answers, request) => {
    const reservation = await answers.reserve("own_1", SHARE, request.signal);
    reservation.received(SHARE);
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

test("a client that reads nothing is cut off when the connection's idle time is over", async () => {
  const { answers, ask } = start(reserved, 1);
  ask();
  await isTaken(answers);
  await eventually(async () => expect(await hasRoom(answers)).toBe(true), 20_000);
}, 30_000);

test("HEAD of a long answer keeps nothing", async () => {
  const { answers, ask } = start();
  ask("HEAD").resume();
  await eventually(async () => expect(await hasRoom(answers)).toBe(true));
});

test("a small answer gives its room back at once, however much was kept for it", async () => {
  const answers = createAnswers();
  const reservation = await answers.reserve("own_1", SHARE, STAYS);
  reservation.received(100);
  const to = { ownerId: "own_1", headers: new Headers(), gone: () => STAYS, reservation };
  const response = await answers.json({ text: "Hi." }, to);
  expect(await hasRoom(answers)).toBe(true);
  expect(await response.text()).toBe('{"text":"Hi."}');
});

test("what is kept shrinks to what a service answered", async () => {
  const answers = createAnswers();
  const first = await answers.reserve("own_1", SHARE, STAYS);
  first.received(MIB);
  const second = await answers.reserve("own_1", SHARE / 2, STAYS);
  expect(await hasRoom(answers)).toBe(false);
  second.release();
  first.release();
  expect(await hasRoom(answers)).toBe(true);
});

test("a long answer that nothing was kept for waits until the owner's others have been taken", async () => {
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
