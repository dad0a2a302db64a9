import { expect, test } from "bun:test";
import { connect } from "node:net";
import { eventStream } from "../src/live/event-stream.ts";

/** More than the sockets of one connection buffer. */
const EVENTS_MAX = 2_000;

test("a client that does not read is cut off with a reason once it is 1 MiB behind", async () => {
  let isEnded = false;
  const stream = eventStream(() => {
    isEnded = true;
  });
  const asked = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      server.timeout(request, 0);
      asked.resolve();
      return new Response(stream.body);
    },
  });
  const client = connect(server.port ?? 0, "127.0.0.1");
  client.pause();
  client.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
  await asked.promise;
  for (let sent = 0; sent < EVENTS_MAX && !isEnded; sent++) {
    stream.tell("message", { content: "x".repeat(20_000) }, String(sent));
    await new Promise(setImmediate);
  }
  expect(isEnded).toBe(true);
  let text = "";
  client.setEncoding("utf8").on("data", (piece: string) => {
    text += piece;
  });
  client.resume();
  const read = Promise.withResolvers<void>();
  const look = () => text.endsWith("0\r\n\r\n") && read.resolve();
  client.on("data", look);
  await read.promise;
  expect(text).toContain('event: error\ndata: {"reason":"You are 1 MiB behind: connect again and read faster"}\n\n');
  client.destroy();
  await server.stop(true);
});
