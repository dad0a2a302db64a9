import { afterAll, expect, test } from "bun:test";
import { eventually } from "../testing/eventually.ts";
import { startRawServer } from "../testing/raw-server.ts";
import { parseAllowList } from "./allow-list.ts";
import type { Answer } from "./answer.ts";
import { createEgress } from "./egress.ts";

const CHUNKED = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
const HELLO = "5\r\nhello\r\n";
const END = "0\r\n\r\n";

const egress = createEgress({ allow: parseAllowList("127.0.0.1") });
afterAll(() => egress.close());

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

test("an asked answer that breaks off is an error, not a short success", async () => {
  await using server = await startRawServer((socket) => socket.end(CHUNKED + HELLO));
  const read = egress.ask(server.url, {}).then(textOf);
  await expect(read).rejects.toMatchObject({ name: "EgressError", kind: "network" });
});

test("an abort during an asked answer throws its reason, and a cancelled one closes its connection", async () => {
  for (const way of ["abort", "cancel"] as const) {
    await using server = await startRawServer((socket) => socket.write(CHUNKED + HELLO));
    const controller = new AbortController();
    const answer = await egress.ask(server.url, { signal: controller.signal });
    await answer.read();
    if (way === "cancel") {
      answer.cancel();
    } else {
      const next = answer.read();
      controller.abort(new Error("left"));
      await expect(next).rejects.toThrow("left");
    }
    await eventually(() => expect(server.connections[0]?.isClosed).toBeTrue());
  }
});

test("an asked answer longer than what is queued is whole", async () => {
  const block = Buffer.alloc(1024 * 1024, "a");
  await using server = await startRawServer((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${8 * block.length}\r\n\r\n`);
    for (let at = 0; at < 8; at++) socket.write(block);
  });
  expect(await textOf(await egress.ask(server.url, {}))).toHaveLength(8 * block.length);
});

test("a redirect of an asked address is an error, and a forbidden address is not asked", async () => {
  await using server = await startRawServer((socket) =>
    socket.write("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: 0\r\n\r\n"),
  );
  await expect(egress.ask(server.url, {})).rejects.toMatchObject({ kind: "redirect" });
  await expect(egress.ask("http://127.0.0.2:1/", {})).rejects.toMatchObject({ kind: "forbidden" });
});
