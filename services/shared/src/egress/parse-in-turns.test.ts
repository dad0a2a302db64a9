import { afterAll, expect, test } from "bun:test";
import { eventually } from "../testing/eventually.ts";
import { startRawServer } from "../testing/network/raw-server.ts";
import { parseAllowList } from "./allow-list.ts";
import type { Answer } from "./answer.ts";
import { createEgress } from "./egress.ts";
import { meterBodies } from "./meter.ts";

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const SLICE_BYTES = 16 * 1024;

const egress = createEgress({ allow: parseAllowList("127.0.0.1") });
afterAll(() => egress.close());

async function textOf(answer: Answer): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let next = await answer.read(); next; next = await answer.read()) pieces.push(...next);
  return Buffer.concat(pieces).toString();
}

/** Counts the turns of the event loop until it is stopped. */
function turnsOfLoop() {
  let turns = 0;
  let isOver = false;
  const turn = () => {
    turns++;
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  return () => {
    isOver = true;
    return turns;
  };
}

test.each([
  ["blank lines before an answer", "", "\r\n".repeat(20_000)],
  ["zeros before the size of a chunk", CHUNKED, "0".repeat(40_000)],
])("a server that sends %s without end is left", async (_, begin, endless) => {
  await using server = await startRawServer(async (socket) => {
    socket.write(begin);
    for (; !socket.destroyed; await new Promise((resolve) => setImmediate(resolve))) socket.write(endless);
  });
  await expect(egress.ask(server.url, {}).then(textOf)).rejects.toMatchObject({
    kind: "too_large",
    message: "127.0.0.1 sent 64 KiB without any of a response's body",
  });
  await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
});

test("a body in chunks of one byte arrives whole, and no turn of the event loop parses more than 16 KiB of it", async () => {
  const chunks = "1\r\na\r\n".repeat(100_000);
  await using server = await startRawServer((socket) => socket.write(`${CHUNKED}${chunks}0\r\n\r\n`));
  const signal = new AbortController().signal;
  let counted = 0;
  meterBodies(signal, {
    ownerId: "any",
    received: (bytes) => {
      counted += bytes;
    },
  });
  const turns = turnsOfLoop();
  const text = await textOf(await egress.ask(server.url, { signal }));
  expect(turns()).toBeGreaterThanOrEqual(Math.floor(chunks.length / SLICE_BYTES));
  expect(text).toBe("a".repeat(100_000));
  // A piece costs as much as 64 bytes, however short it is.
  expect(counted).toBe(6_400_000);
});

test("a body that its reader leaves is not read ahead, and continues where it stopped", async () => {
  const block = "x".repeat(4 * 1024 * 1024);
  await using server = await startRawServer((socket) =>
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${block.length}\r\n\r\n${block}`),
  );
  const answer = await egress.ask(server.url, {});
  const first = Buffer.concat((await answer.read()) ?? []).length;
  for (let turn = 0; turn < 100; turn++) await new Promise((resolve) => setImmediate(resolve));
  const rest = (await textOf(answer)).length;
  expect(first + rest).toBe(block.length);
});

test("what a server sends after its answer reaches no other request", async () => {
  const evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil";
  await using server = await startRawServer((socket, connection) =>
    socket.write(
      `HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n${connection}${connection === 1 ? evil.repeat(2_000) : ""}`,
    ),
  );
  expect(await textOf(await egress.ask(server.url, {}))).toBe("1");
  await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
  expect(await textOf(await egress.ask(server.url, {}))).toBe("2");
});

const LONG = "x".repeat(100_000);

test.each([
  ["with its length", `HTTP/1.1 200 OK\r\nContent-Length: ${LONG.length}\r\nConnection: close\r\n\r\n${LONG}`],
  ["in chunks", `${CHUNKED}${LONG.length.toString(16)}\r\n${LONG}\r\n0\r\n\r\n`],
  ["up to the end of the connection", `HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${LONG}`],
])("a long body that a server sends %s arrives whole, although the server closes the connection", async (_, answer) => {
  await using server = await startRawServer((socket) => socket.end(answer));
  expect(await textOf(await egress.ask(server.url, {}))).toBe(LONG);
});

test("a long body whose connection is closed before its end is an error", async () => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${LONG.length + 1}\r\n\r\n`;
  await using server = await startRawServer((socket) => socket.end(head + LONG));
  await expect(egress.ask(server.url, {}).then(textOf)).rejects.toMatchObject({
    kind: "network",
    message: "127.0.0.1 closed the connection before the response was complete",
  });
});
