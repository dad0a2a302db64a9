import { afterEach, expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { eventually } from "@parley/testkit/eventually";
import { type Admission, createAdmission } from "../src/admission.ts";

const MIB = 1024 * 1024;
/** All that one owner may hold; more than sockets buffer by themselves. */
const LONG = "a".repeat(16 * MIB);

type Serve = (admission: Admission, request: Request) => Promise<Response>;

const ends: (() => void)[] = [];
afterEach(() => {
  for (const end of ends.splice(0)) end();
});

const newAdmission = () => createAdmission(() => ({ known: null, isKeyless: false, address: "192.0.2.1" }));
const answer: Serve = (admission, request) => admission.answer(LONG, "own_1", new Headers(), request);

/** A server of long answers to one owner. */
function start(serve: Serve = answer, idleTimeout = 30) {
  const admission = newAdmission();
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout,
    fetch: (request) => serve(admission, request),
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
  return { admission, ask };
}

/** Whether the owner has room for a long answer now. */
async function hasRoom(admission: Admission, ownerId = "own_1"): Promise<boolean> {
  const gone = new AbortController();
  const { signal } = gone;
  const given = admission.answer(LONG, ownerId, new Headers(), new Request("http://gateway/", { signal })).then(
    () => true,
    () => false,
  );
  await new Promise((resolve) => setImmediate(resolve));
  gone.abort();
  return given;
}

const isTaken = (admission: Admission) => eventually(async () => expect(await hasRoom(admission)).toBe(false));
const isFree = (admission: Admission) => eventually(async () => expect(await hasRoom(admission)).toBe(true), 20_000);

test("memory for an answer is held until its client has read it, from its owner's share only", async () => {
  const { admission, ask } = start();
  const socket = ask();
  await isTaken(admission);
  expect(await hasRoom(admission, "own_2")).toBe(true);
  let received = 0;
  socket.on("data", (bytes: Buffer) => {
    received += bytes.length;
  });
  socket.resume();
  await isFree(admission);
  await eventually(() => expect(received).toBeGreaterThan(LONG.length));
});

test("memory for an answer is released when its client leaves in the middle", async () => {
  const { admission, ask } = start();
  const socket = ask();
  await isTaken(admission);
  socket.destroy();
  await isFree(admission);
});

test("memory for an answer is released when its client leaves before it", async () => {
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const { admission, ask } = start(async (admission, request) => {
    const left = new Promise((resolve) => request.signal.addEventListener("abort", resolve));
    asked.resolve();
    await left;
    return answer(admission, request).finally(answered.resolve);
  });
  const socket = ask();
  await asked.promise;
  socket.destroy();
  await answered.promise;
  await isFree(admission);
});

test("a client that reads nothing is cut off after the connection's idle time", async () => {
  const { admission, ask } = start(answer, 1);
  ask();
  await isTaken(admission);
  await isFree(admission);
});

test("HEAD for a long answer holds no memory", async () => {
  const { admission, ask } = start();
  ask("HEAD").resume();
  await isFree(admission);
});

test("an owner's long answers wait until earlier ones have been read, and short ones do not", async () => {
  const admission = newAdmission();
  const request = new Request("http://gateway/");
  const first = await admission.answer(LONG, "own_1", new Headers(), request);
  let isSecondThere = false;
  const second = admission.answer(LONG, "own_1", new Headers(), request).then((response) => {
    isSecondThere = true;
    return response;
  });
  expect(await (await admission.answer("{}", "own_1", new Headers(), request)).text()).toBe("{}");
  expect(isSecondThere).toBe(false);
  expect(await first.text()).toBe(LONG);
  expect(await (await second).text()).toBe(LONG);
});
