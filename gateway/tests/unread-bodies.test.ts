import { afterAll, expect, test } from "bun:test";
import { connect } from "node:net";
import { readJson } from "../src/http/body.ts";
import { withoutUnreadBodies } from "../src/http/unread-bodies.ts";

const MIB = 1024 * 1024;

/** Refuses every request unread, except one to /read, and one to /json unless its body is at most 1,000 bytes of JSON. */
const server = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  maxRequestBodySize: Number.MAX_SAFE_INTEGER,
  fetch: withoutUnreadBodies(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/json")
      return readJson(request, { bytesMax: 1_000 }).then(
        () => new Response("ok"),
        () => new Response("too long", { status: 413 }),
      );
    if (pathname !== "/read") return new Response("no", { status: 429 });
    return new Response(String((await request.arrayBuffer()).byteLength));
  }),
});

afterAll(() => server.stop(true));

/**
 * Sends requests on one connection. Resolves with everything received once the server has closed it, or once `until` has arrived.
 */
async function exchange(requests: readonly string[], until?: RegExp): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<void>();
  let received = "";
  const client = connect(server.port ?? 0, "127.0.0.1");
  client.on("data", (bytes) => {
    received += bytes;
    if (until?.test(received)) resolve();
  });
  client.on("error", () => {});
  client.on("close", () => resolve());
  for (const request of requests) client.write(request);
  await promise;
  client.destroy();
  return received;
}

const post = (path: string, length: number, body: string) =>
  `POST ${path} HTTP/1.1\r\nHost: test\r\nContent-Length: ${length}\r\n\r\n${body}`;

test("a long body that is refused unread is not received: the client gets the response, and the connection closes", async () => {
  const received = await exchange([post("/", 64 * MIB, "x".repeat(1_000))]);
  expect(received).toStartWith("HTTP/1.1 429 ");
  expect(received.toLowerCase()).toContain("\r\nconnection: close\r\n");
});

test("a refused body of unknown length closes the connection, too", async () => {
  const chunked = "POST / HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n";
  expect(await exchange([chunked + "x".repeat(1_000)])).toStartWith("HTTP/1.1 429 ");
});

test("a client that sends all of a refused body before it reads gets the response", async () => {
  for (let at = 0; at < 20; at++) {
    const response = await fetch(server.url, { method: "POST", body: "x".repeat(MIB) });
    expect(response.status).toBe(429);
    expect(await response.text()).toBe("no");
  }
});

test("a short body that is refused, and a long one that is read, keep the connection", async () => {
  const requests = [post("/", 1_000, "x".repeat(1_000)), post("/read", MIB, "x".repeat(MIB)), post("/read", 3, "end")];
  const received = await exchange(requests, /\r\n\r\n3$/);
  expect(received).toContain(`\r\n\r\n${MIB}`);
  expect(received.toLowerCase()).not.toContain("connection: close");
});

const CHUNKED = "HTTP/1.1\r\nHost: test\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n";
const SPACES = `7d0\r\n${" ".repeat(2_000)}\r\n`;

test("a body of unknown length that is read as far as its limit closes the connection, and one that is read whole keeps it", async () => {
  expect(await exchange([`POST /json ${CHUNKED}${SPACES}`])).toStartWith("HTTP/1.1 413 ");
  const whole = `POST /json ${CHUNKED}2\r\n{}\r\n0\r\n\r\n`;
  const received = await exchange([whole, post("/read", 3, "end")], /\r\n\r\n3$/);
  expect(received).toContain("\r\n\r\nok");
});

test.each(["GET", "HEAD"])("after the response to a %s with a long body the connection closes", async (method) => {
  expect(await exchange([`${method} / ${CHUNKED}${SPACES}`])).toStartWith("HTTP/1.1 429 ");
  const long = `${method} / HTTP/1.1\r\nHost: test\r\nContent-Length: ${64 * MIB}\r\n\r\n${"x".repeat(1_000)}`;
  expect(await exchange([long])).toStartWith("HTTP/1.1 429 ");
});
