import { expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import type { Socket } from "node:net";
import { limitInterim } from "./interim.ts";

const INTERIM = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";

/** What a parser sees of these chunks when two interim responses are left as they are. */
function seen(chunks: readonly string[], { stopAfter = chunks.length } = {}): string {
  const socket = new EventEmitter();
  let text = "";
  socket.on("data", (chunk: Buffer) => {
    text += chunk.toString("latin1");
  });
  const stop = limitInterim(socket as Socket, 2);
  for (const [at, chunk] of chunks.entries()) {
    if (at === stopAfter) stop();
    socket.emit("data", Buffer.from(chunk, "latin1"));
  }
  return text;
}

const zeros = (text: string) => "\0".repeat(text.length);

test("an answer after few interim responses stays as it is, whatever its body says", () => {
  const answer = `${INTERIM.repeat(2)}HTTP/1.1 200 OK\r\n\r\n${INTERIM.repeat(9)}`;
  expect(seen([answer])).toBe(answer);
});

test("what follows too many interim responses is unreadable, wherever the network divides them", () => {
  const sent = INTERIM.repeat(3);
  expect(seen([sent])).toBe(INTERIM.repeat(2) + zeros(INTERIM));
  for (let at = 1; at < 2 * INTERIM.length; at++) {
    const rest = sent.slice(at) + INTERIM.repeat(4);
    expect(seen([sent.slice(0, at), rest])).toEndWith(zeros(INTERIM.repeat(3)));
  }
});

test("nothing is changed once the answer is there", () => {
  const chunks = [INTERIM.repeat(2), "HTTP/1.1 200 OK\r\n\r\n", INTERIM.repeat(9)];
  expect(seen(chunks, { stopAfter: 2 })).toBe(chunks.join(""));
});
