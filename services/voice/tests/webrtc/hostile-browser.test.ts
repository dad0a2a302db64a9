import { afterEach, expect, test } from "bun:test";
import { eventually } from "@parley/shared/testing/eventually";
import { tone } from "../listening.ts";
import { connectedCalls, sctpOf } from "./connected.ts";

// Any unhandled exception fails the test: it would end the process and everybody's calls.

const { connected, end } = connectedCalls();
afterEach(end);

test("a browser that dies affects no other call", async () => {
  const { page, agent, leg } = await connected();
  leg.play(tone(1_500, 0.5));
  leg.mark("said");
  await eventually(() => expect(page.channel.readyState).toBe("open"));
  // Our answer to its last messages arrives when it is gone, and its system refuses the packets.
  for (let at = 0; at < 3; at++) await sctpOf(page).send(1, STRING, Buffer.from("hello"));
  await page.vanish();
  await eventually(() => expect(agent.marks).toEqual(["said"]));
  await leg.hangUp();
  expect(agent.endings).toEqual(["ended_by_us"]);
});

test("captions continue after messages that no browser sends", async () => {
  const { page, peer } = await connected();
  await page.connection.sctpTransport?.dtlsTransport.sendData(Buffer.from("no SCTP"));
  // A message of an unknown kind, and the answer to a channel that was never opened.
  await sctpOf(page).send(1, 99, Buffer.from("hello"));
  await sctpOf(page).send(77, CONTROL, Buffer.from([2]));
  await eventually(() => {
    peer.tell("hello");
    expect(page.captions).toContain("hello");
  });
});

test("captions continue after thousands of fragments whose message never ends, or whose beginning never comes", async () => {
  const { page, peer } = await connected();
  const sctp = sctpOf(page);
  await eventually(() => expect(page.channel.readyState).toBe("open"));
  const { localTsn: next } = sctp as unknown as { localTsn: number };
  const send = (tsn: number, isFirst: boolean) => sctp.sendChunk({ bytes: fragment(tsn % 2 ** 32, isFirst) } as never);
  for (let sent = 0; sent < 12_000; sent++) {
    const isGap = sent >= 6_000;
    await send(next + sent + (isGap ? 10_000 : 0), sent === 0);
    // The receiver gets its turn; more would overflow its socket.
    if (sent % 50 === 0) await new Promise(setImmediate);
  }
  await eventually(() => {
    peer.tell("hello");
    expect(page.captions).toContain("hello");
  });
});

test("a caption longer than a browser accepts is dropped", async () => {
  const { page, peer } = await connected((offer) => offer.replace(/a=max-message-size:\d+/, "a=max-message-size:5"));
  await eventually(() => {
    peer.tell("much too long");
    peer.tell("short");
    expect(page.captions).toContain("short");
  });
  expect(page.captions).not.toContain("much too long");
});

test("browsers that connect at once get separate ports, and one that gets no port learns so", async () => {
  const ports = { first: 26_990, last: 26_991 };
  const calls = await Promise.all([connected((offer) => offer, { ports }), connected((offer) => offer, { ports })]);
  for (const { leg } of calls) leg.play(tone(1_500, 0.5));
  await eventually(() => {
    for (const { page } of calls) expect(page.frames.length).toBeGreaterThan(10);
  });
  expect(connected((offer) => offer, { ports })).rejects.toThrow("No RTP port is free");
});

/** Kinds of messages (RFC 8831, section 8). */
const [CONTROL, STRING] = [50, 51];

/** A chunk of a message whose end is not in it (RFC 9260, section 3.3.1). */
function fragment(tsn: number, isFirst: boolean): Buffer {
  const chunk = Buffer.alloc(20);
  chunk.writeUInt8(isFirst ? 2 : 0, 1);
  chunk.writeUInt16BE(chunk.length, 2);
  chunk.writeUInt32BE(tsn, 4);
  chunk.writeUInt16BE(1, 8);
  chunk.writeUInt32BE(STRING, 12);
  return chunk;
}
