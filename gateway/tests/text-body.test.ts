import { expect, test } from "bun:test";
import { connect, type Socket } from "node:net";
import { type TextBody, textBody } from "../src/http/answer/text-body.ts";

const MIB = 1024 * 1024;
/** More than the sockets of one connection buffer. */
const WRITTEN_MAX = 32 * MIB;

interface Unread extends AsyncDisposable {
  words: TextBody;
  client: Socket;
}

/** A reply to a client that reads nothing until it is resumed, on a connection that may be idle forever. */
async function unreadReply(): Promise<Unread> {
  const words = textBody();
  const asked = Promise.withResolvers<void>();
  const server = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      server.timeout(request, 0);
      asked.resolve();
      words.write("Hello ");
      return new Response(words.body);
    },
  });
  const client = connect(server.port ?? 0, "127.0.0.1");
  client.pause();
  client.on("error", () => {});
  client.write("GET / HTTP/1.1\r\nHost: test\r\n\r\n");
  await asked.promise;
  return {
    words,
    client,
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      await server.stop(true);
    },
  };
}

/** Writes until the client is behind. @returns the characters written */
async function fill({ words }: Unread, piece: string): Promise<number> {
  for (let written = 0; written < WRITTEN_MAX; written += piece.length) {
    if (words.write(piece)) return written;
    await new Promise(setImmediate);
  }
  return WRITTEN_MAX;
}

test.each([1_000, 4_096, 20_000])(
  "a client that reads nothing is behind, with pieces of %d characters too",
  async (length) => {
    await using reply = await unreadReply();
    expect(await fill(reply, "x".repeat(length))).toBeLessThan(WRITTEN_MAX);
  },
);

test("breaking off a reply that nobody reads closes its connection", async () => {
  await using reply = await unreadReply();
  await fill(reply, "x".repeat(20_000));
  reply.words.breakOff();
  const closed = Promise.withResolvers<void>();
  reply.client.on("close", () => closed.resolve());
  reply.client.resume();
  await closed.promise;
});
