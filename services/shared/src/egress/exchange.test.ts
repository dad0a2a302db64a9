import { afterAll, expect, test } from "bun:test";
import { eventually } from "../testing/eventually.ts";
import { startRawServer } from "../testing/raw-server.ts";
import { parseAllowList } from "./allow-list.ts";
import { createEgress, type PlainRequest } from "./egress.ts";

const OK = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const HELLO = "5\r\nhello\r\n";

const egress = createEgress({ allow: parseAllowList("127.0.0.1"), maxResponseBytes: 1_000 });
afterAll(() => egress.close());

/** Everything that the reader was told, the status first. */
async function exchange(url: string, request: Partial<PlainRequest> = {}, wantsMore: () => boolean = () => true) {
  const told: (number | string)[] = [];
  const head = (status: number) => void told.push(status);
  const piece = (bytes: Uint8Array) => {
    told.push(new TextDecoder().decode(bytes));
    return wantsMore();
  };
  const error: unknown = await egress
    .exchange({ url, method: "POST", headers: {}, ...request }, { head, piece })
    .then(() => null)
    .catch((cause: unknown) => cause);
  return { told, error };
}

test("a body that is read to its end leaves the connection for the next request", async () => {
  await using server = await startRawServer((socket) => socket.write(OK));
  const body = new TextEncoder().encode("hällo");
  const headers = { "X-Name": "value", Host: "evil.test", "Accept-Encoding": "gzip" };
  for (let turn = 0; turn < 2; turn++)
    expect(await exchange(server.url, { method: "PUT", headers, body })).toEqual({ told: [200, "ok"], error: null });
  expect(server.connections).toHaveLength(1);
  const [head = "", sent = ""] = (server.connections[0]?.received ?? "").split("\r\n\r\n");
  const lines = head.toLowerCase().split("\r\n");
  expect(lines).toEqual(
    expect.arrayContaining([
      "put / http/1.1",
      "x-name: value",
      `host: 127.0.0.1:${server.port}`,
      "accept-encoding: identity",
      "content-length: 6",
    ]),
  );
  expect(lines.join()).not.toContain("evil");
  expect(Buffer.from(sent, "latin1").toString()).toStartWith("hällo");
});

test.each([
  ["without a body", "HTTP/1.1 204 No Content\r\n\r\n", [204]],
  ["that redirects", "HTTP/1.1 307 Temporary Redirect\r\nLocation: /\r\nContent-Length: 2\r\n\r\nno", [307, "no"]],
])("a response %s is one like any other", async (_, answer, told) => {
  await using server = await startRawServer((socket) => socket.write(answer));
  expect(await exchange(server.url)).toEqual({ told, error: null });
});

test("a reader that wants no more gets no more, and the connection is closed", async () => {
  await using server = await startRawServer((socket) => {
    socket.write(CHUNKED + HELLO);
    return eventually(() => expect(socket.destroyed).toBeTrue());
  });
  expect(await exchange(server.url, {}, () => false)).toEqual({ told: [200, "hello"], error: null });
  await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
});

test.each([
  ["a chunked body without its end", CHUNKED + HELLO],
  ["fewer bytes than announced", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello"],
])("%s is an error, after the status and what arrived", async (_, sent) => {
  await using server = await startRawServer((socket) => socket.end(sent));
  const { told, error } = await exchange(server.url);
  expect(told).toEqual([200, "hello"]);
  expect(error).toMatchObject({
    kind: "network",
    message: "127.0.0.1 closed the connection before the response was complete",
  });
});

test.each([
  ["longer than the limit", "too_large", `HTTP/1.1 200 OK\r\n\r\n${"a".repeat(2_000)}`],
  ["compressed", "network", "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 99\r\n\r\n"],
])("a body that is %s fails, and its connection is closed", async (_, kind, sent) => {
  await using server = await startRawServer((socket) => socket.write(sent));
  const { error } = await exchange(server.url);
  expect(error).toMatchObject({ name: "EgressError", kind });
  await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
});

test("an abort during the body rejects with its reason and closes the connection", async () => {
  await using server = await startRawServer((socket) => socket.write(CHUNKED + HELLO));
  const controller = new AbortController();
  const leave = () => {
    controller.abort(new Error("left"));
    return true;
  };
  const { told, error } = await exchange(server.url, { signal: controller.signal }, leave);
  expect(told).toEqual([200, "hello"]);
  expect(error).toMatchObject({ message: "left" });
  await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
});

test("an address that is not allowed is not connected to", async () => {
  await using server = await startRawServer((socket) => socket.write(OK), "0.0.0.0");
  const { told, error } = await exchange(`https://127.0.0.2:${server.port}/`);
  expect(error).toMatchObject({ name: "EgressError", kind: "forbidden" });
  expect([told, server.connections]).toEqual([[], []]);
});
