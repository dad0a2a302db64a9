import { expect, test } from "bun:test";
import { sendSliced } from "../src/rpc/send-sliced.ts";

const settled = () => new Promise((resolve) => setImmediate(resolve));

/** A call whose stream takes one write when the test says so. */
function manual(slices: readonly string[]) {
  const log: string[] = [];
  const writes: (() => void)[] = [];
  const stream = {
    write(bytes: Uint8Array, done: () => void) {
      log.push(bytes.length === 5 && bytes[0] === 0 ? `prefix ${Buffer.from(bytes).readUInt32BE(1)}` : String(bytes));
      writes.push(done);
    },
  };
  const call = { sendMetadata: () => log.push("headers"), call: { stream } };
  const gone = new AbortController();
  const byteLength = slices.join("").length;
  const message = { byteLength, slices: slices.map((slice) => Buffer.from(slice)) };
  const turn = async () => void log.push("turn");
  const sent = sendSliced(call, message, turn, gone.signal);
  return { log, gone, sent, written: () => void writes.shift()?.() };
}

test("each slice waits for its turn and until the previous one has left", async () => {
  const { log, sent, written } = manual(["abc", "def", "g"]);
  await settled();
  expect(log).toEqual(["headers", "prefix 7"]);
  written();
  await settled();
  expect(log.slice(2)).toEqual(["turn", "abc"]);
  written();
  await settled();
  expect(log.slice(4)).toEqual(["turn", "def"]);
  written();
  await settled();
  expect(log.slice(6)).toEqual(["turn", "g"]);
  written();
  await sent;
});

test("nothing more is sent to a caller that has left, even while a slice is stuck", async () => {
  const { log, gone, sent, written } = manual(["abc", "def"]);
  written();
  await settled();
  gone.abort();
  await sent;
  expect(log).toEqual(["headers", "prefix 6", "turn", "abc"]);
});
