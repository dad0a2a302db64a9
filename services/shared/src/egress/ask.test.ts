import { afterAll, expect, test } from "bun:test";
import { eventually } from "@parley/testkit/eventually";
import { startRawServer } from "@parley/testkit/network/raw-server";
import { parseAllowList } from "./allow-list.ts";
import type { Answer } from "./answer.ts";
import { createEgress } from "./egress.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const HELLO = "5\r\nhello\r\n";
const END = "0\r\n\r\n";

const egress = createEgress({ allow: parseAllowList("127.0.0.1") });
const strict = createEgress({ allow: parseAllowList("127.0.0.1"), maxResponseBytes: 1_000 });
afterAll(() => {
  egress.close();
  strict.close();
});

async function textOf(answer: Answer): Promise<string> {
  const pieces: Uint8Array[] = [];
  for (let next = await answer.read(); next; next = await answer.read()) pieces.push(...next);
  return new TextDecoder().decode(Buffer.concat(pieces));
}

test("an asked answer has status, headers and body, and leaves its connection for the next request", async () => {
  await using server = await startRawServer((socket) =>
    socket.write("HTTP/1.1 429 Slow down\r\nRetry-After: 7\r\nContent-Length: 5\r\n\r\nhello"),
  );
  for (let time = 0; time < 2; time++) {
    const answer = await egress.ask(server.url, { method: "POST", body: "any" });
    expect(answer).toMatchObject({ status: 429, statusText: "Slow down" });
    expect(answer.rawHeaders).toContain("Retry-After");
    expect(await textOf(answer)).toBe("hello");
    answer.cancel();
  }
  expect(server.connections).toHaveLength(1);
});

test("an asked answer is read while it arrives", async () => {
  const next = Promise.withResolvers<void>();
  await using server = await startRawServer(async (socket) => {
    socket.write(CHUNKED + HELLO);
    await next.promise;
    socket.write(HELLO + END);
  });
  const answer = await egress.ask(server.url, {});
  expect(Buffer.concat((await answer.read()) ?? []).toString()).toBe("hello");
  next.resolve();
  expect(await textOf(answer)).toBe("hello");
});

test("an asked answer longer than what is queued is whole", async () => {
  const block = Buffer.alloc(1024 * 1024, "a");
  await using server = await startRawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${8 * block.length}\r\n\r\n`);
    for (let at = 0; at < 8; at++) socket.write(block);
  });
  expect(await textOf(await egress.ask(server.url, {}))).toHaveLength(8 * block.length);
});

test.each([
  ["100 Continue", ""],
  ["103 Early Hints", "Link: </a>\r\n"],
])("%s before an answer is skipped, but a server that sends it without end is left", async (status, header) => {
  const interim = `HTTP/1.1 ${status}\r\n${header}\r\n`;
  await using polite = await startRawServer((socket) => socket.write(interim.repeat(16) + OK));
  expect(await textOf(await egress.ask(polite.url, { method: "POST", body: "any" }))).toBe("ok");

  await using endless = await startRawServer(async (socket) => {
    while (!socket.destroyed) {
      socket.write(interim.repeat(1_000));
      await new Promise((resolve) => setImmediate(resolve));
    }
  });
  await expect(egress.ask(endless.url, { method: "POST", body: "any" })).rejects.toMatchObject({
    kind: "too_large",
    message: "127.0.0.1 sent more than 16 interim responses (1xx) and no answer",
  });
  await eventually(() => expect(endless.connections[0]?.isClosed).toBeTrue());
});

test("a redirect of an asked address is an error, unless the caller takes it as an answer", async () => {
  await using server = await startRawServer((socket) =>
    socket.write("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
  );
  await expect(egress.ask(server.url, {})).rejects.toMatchObject({ kind: "redirect" });
});

/** Asks for at most 1,000 bytes, redirects included. @returns what the reader got, the status first */
async function ask(url: string, init: RequestInit = {}, wantsMore: () => boolean = () => true) {
  const got: (number | string)[] = [];
  try {
    const answer = await strict.ask(url, { method: "POST", body: new Uint8Array(), redirect: "manual", ...init });
    got.push(answer.status);
    for (let next = await answer.read(); next; next = await answer.read()) {
      got.push(new TextDecoder().decode(Buffer.concat(next)));
      if (!wantsMore()) {
        answer.cancel();
        break;
      }
    }
    return { got, error: null };
  } catch (error) {
    return { got, error };
  }
}

test("a reader that wants no more gets no more, and the connection is closed", async () => {
  await using server = await startRawServer((socket) => {
    socket.write(CHUNKED + HELLO);
    return eventually(() => expect(socket.destroyed).toBeTrue());
  });
  expect(await ask(server.url, {}, () => false)).toEqual({ got: [200, "hello"], error: null });
  await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
});

test("an abort during the body rejects with its reason and closes the connection", async () => {
  await using server = await startRawServer((socket) => socket.write(CHUNKED + HELLO));
  const controller = new AbortController();
  const leave = () => {
    controller.abort(new Error("left"));
    return true;
  };
  const { got, error } = await ask(server.url, { signal: controller.signal }, leave);
  expect(got).toEqual([200, "hello"]);
  expect(error).toMatchObject({ message: "left" });
  await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
});

test("an address that is not allowed is not connected to", async () => {
  await using server = await startRawServer((socket) => socket.write(OK), "0.0.0.0");
  const { got, error } = await ask(`https://127.0.0.2:${server.port}/`);
  expect(error).toMatchObject({ name: "EgressError", kind: "forbidden" });
  expect([got, server.connections]).toEqual([[], []]);
});
