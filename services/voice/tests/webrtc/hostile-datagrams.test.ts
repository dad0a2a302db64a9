import { afterEach, expect, spyOn, test } from "bun:test";
import { eventually } from "@parley/shared/testing/eventually";
import { answerOffer } from "../../src/transport/webrtc/peer.ts";
import { listening, tone } from "../listening.ts";
import { browser } from "./browser.ts";
import { socketTo } from "./checks.ts";
import { connectedCalls, OPTIONS, sctpOf } from "./connected.ts";
import { withOurSide } from "./our-side.ts";

const { connected, open, end } = connectedCalls();
afterEach(end);

test("a request that is not signed with the call's password is not answered", async () => {
  const { peer } = await connected();
  const stranger = await socket(peer.answer);
  await stranger.check(null);
  await stranger.check("a wrong password of a call");
  const right = await stranger.check();
  await eventually(() => expect(stranger.answered()).toEqual([right]));
});

test("a stranger cannot silence a call by an alert, which is not encrypted", async () => {
  const { page, peer, leg } = await connected();
  const stranger = await socket(peer.answer);
  await stranger.send(Buffer.from([ALERT, 254, 253, ...new Uint8Array(8), 0, 2, 1, 0]));
  await stranger.check();
  await eventually(() => expect(stranger.answered()).toHaveLength(1));
  leg.play(tone(1_500, 0.5));
  const before = page.frames.length;
  await eventually(() => {
    expect(page.frames.length).toBeGreaterThan(before + 10);
    peer.tell("hello");
    expect(page.captions).toContain("hello");
  });
});

test("a browser checks from 32 addresses at most, and 64 of its checks are remembered", async () => {
  const [{ peer }, our] = await withOurSide(() => connected());
  const sockets = await Promise.all(Array.from({ length: 40 }, () => socket(peer.answer)));
  for (const each of sockets) await each.check();
  const [first] = sockets;
  for (let sent = 0; sent < 100; sent++) await first?.check();
  await eventually(() => expect(first?.answered()).toHaveLength(101));
  expect(sockets.at(-1)?.answered()).toEqual([]);
  const pairs = our.iceTransports[0]?.connection.candidatePairs ?? [];
  expect(pairs).toHaveLength(32);
  for (const { requestTransactionIds } of pairs) expect(requestTransactionIds.size).toBeLessThanOrEqual(64);
});

test("64 short pieces of a handshake are kept, and no long one", async () => {
  const page = await browser();
  open.push(page);
  const [peer, our] = await withOurSide(() => answerOffer(page.offer, OPTIONS, listening().to));
  open.push(peer);
  peer.connected.catch(() => {});
  const hostile = await socket(peer.answer);
  await hostile.check();
  await eventually(() => expect(hostile.received.some(([first]) => first === HANDSHAKE)).toBeTrue());
  const kept = () => our.dtlsTransports[0]?.dtls.bufferFragmentedHandshakes.length;
  for (let sent = 0; sent < 10; sent++) await hostile.send(pieceOf(2 ** 24 - 1));
  const long = await hostile.check();
  await eventually(() => expect(hostile.answered()).toContain(long));
  expect(kept()).toBe(0);
  for (let sent = 0; sent < 100; sent++) await hostile.send(pieceOf(2_000));
  const short = await hostile.check();
  await eventually(() => expect(hostile.answered()).toContain(short));
  expect(kept()).toBe(36);
});

test("a browser that asks for packets again gets none", async () => {
  const { page, leg } = await connected();
  const { iceTransports, dtlsTransports } = page.connection;
  const sequences: number[] = [];
  iceTransports[0]?.connection.onData.subscribe((datagram) => {
    if (datagram.readUInt8(0) >> 6 === 2 && datagram.readUInt8(1) < 192) sequences.push(datagram.readUInt16BE(2));
  });
  leg.play(tone(1_500, 1));
  await eventually(() => expect(sequences.length).toBeGreaterThan(10));
  const [ssrc = 0] = page.connection.getReceivers().flatMap(({ trackBySSRC }) => Object.keys(trackBySSRC).map(Number));
  const asking = Buffer.alloc(12 + 4 * sequences.length);
  asking.set([0x81, 205, 0, asking.length / 4 - 1]);
  asking.writeUInt32BE(ssrc, 8);
  for (const [at, sequence] of sequences.entries()) asking.writeUInt16BE(sequence, 12 + 4 * at);
  const encrypted = dtlsTransports[0]?.srtcp.encrypt(asking);
  if (encrypted) await iceTransports[0]?.connection.send(encrypted);
  const before = sequences.length;
  await eventually(() => expect(sequences.length).toBeGreaterThan(before + 10));
  expect(new Set(sequences).size).toBe(sequences.length);
});

test("captions continue after chunks and parameters without a length", async () => {
  const { page, peer } = await connected();
  const sctp = sctpOf(page);
  for (const bytes of [
    [HEARTBEAT, 0, 0, 0],
    [HEARTBEAT, 0, 0, 8, 0, 1, 0, 0],
  ])
    await sctp.sendChunk({ bytes: Buffer.from(bytes) } as never);
  await eventually(() => {
    peer.tell("hello");
    expect(page.captions).toContain("hello");
  });
});

test("an acknowledgement of far more than was sent is as little work as any", async () => {
  const { page, peer } = await connected();
  const added = spyOn(Set.prototype, "add");
  await sctpOf(page).sendChunk({ bytes: acknowledgement(sctpOf(page), 2 ** 20, 3) } as never);
  await eventually(() => {
    peer.tell("hello");
    expect(page.captions).toContain("hello");
  });
  expect(added.mock.calls.length).toBeLessThan(10_000);
  added.mockRestore();
});

test("a browser that takes no data has one answer and one caption waiting for it to be woken", async () => {
  const [{ page, peer }, our] = await withOurSide(() => connected());
  const sctp = sctpOf(page);
  await eventually(() => expect(page.channel.readyState).toBe("open"));
  const { sctp: ourSctp } = our.sctpTransport;
  const next = (sctp as unknown as { localTsn: number }).localTsn;
  await sctp.sendChunk({ bytes: acknowledgement(sctp, 0) } as never);
  for (let sent = 0; sent < 100; sent++)
    await sctp.sendChunk({ bytes: opening((next + sent) % 2 ** 32, sent + 1) } as never);
  await eventually(() => expect(ourSctp.lastReceivedTsn).toBe((next + 99) % 2 ** 32));
  expect(ourSctp.outboundQueue.length + our.sctpTransport.dataChannelQueue.length).toBeLessThanOrEqual(2);
  for (let told = 0; told < 100; told++) peer.tell("hello");
  expect(ourSctp.flush.length).toBe(1);
});

test("of streams that a browser only skips, 16 are kept", async () => {
  const [{ page }, our] = await withOurSide(() => connected());
  const sctp = sctpOf(page);
  await eventually(() => expect(page.channel.readyState).toBe("open"));
  const { sctp: ourSctp } = our.sctpTransport;
  const { localTsn } = sctp as unknown as { localTsn: number };
  await sctp.sendChunk({ bytes: skipping(localTsn, 300) } as never);
  await eventually(() => expect(ourSctp.lastReceivedTsn).toBe(localTsn));
  expect(Object.keys(ourSctp.inboundStreams).length).toBeLessThanOrEqual(16);
});

test("while a browser does not answer a reset, 64 more streams wait for theirs", async () => {
  const [{ page }, our] = await withOurSide(() => connected());
  const sctp = sctpOf(page);
  await eventually(() => expect(page.channel.readyState).toBe("open"));
  const { sctp: ourSctp } = our.sctpTransport;
  for (let stream = 0; stream < 600; stream++) ourSctp.outboundStreamSeq[stream] = 1;
  const [transport] = page.connection.dtlsTransports;
  if (transport) transport.dataReceiver = () => {};
  await sctp.sendChunk({ bytes: resetting(1, 300) } as never);
  await sctp.sendChunk({ bytes: resetting(2, 300, 300) } as never);
  await eventually(() => expect(ourSctp.reconfigResponseSeq).toBe(2));
  expect(ourSctp.reconfigQueue.length).toBe(64);
});

const [ALERT, HANDSHAKE] = [21, 22];
const CERTIFICATE = 11;
/** Kinds of chunks (RFC 9260, RFC 3758, RFC 6525). */
const [DATA, ACKNOWLEDGEMENT, HEARTBEAT, RESET, SKIP] = [0, 3, 4, 130, 192];

async function socket(answer: string) {
  const opened = await socketTo(answer);
  open.push(opened);
  return opened;
}

/** A record with the first byte of a certificate. */
function pieceOf(bytes: number): Buffer {
  const piece = Buffer.alloc(13 + 12 + 1);
  piece.set([HANDSHAKE, 254, 253]);
  piece.writeUInt16BE(12 + 1, 11);
  piece.writeUInt8(CERTIFICATE, 13);
  piece.writeUIntBE(bytes, 14, 3);
  piece.writeUIntBE(1, 22, 3);
  return piece;
}

function chunk(type: number, flags: number, body: Buffer): Buffer {
  const header = Buffer.from([type, flags, 0, 0]);
  header.writeUInt16BE(4 + body.length, 2);
  return Buffer.concat([header, body]);
}

/** @param room for further data @param gaps each of which claims 65,536 chunks */
function acknowledgement(sctp: ReturnType<typeof sctpOf>, room: number, gaps = 0): Buffer {
  const body = Buffer.alloc(12 + 4 * gaps);
  body.writeUInt32BE((sctp as unknown as { lastReceivedTsn: number }).lastReceivedTsn, 0);
  body.writeUInt32BE(room, 4);
  body.writeUInt16BE(gaps, 8);
  for (let gap = 0; gap < gaps; gap++) body.writeUInt16BE(65_535, 14 + 4 * gap);
  return chunk(ACKNOWLEDGEMENT, 0, body);
}

/** A message that opens the first channel (RFC 8832). */
function opening(tsn: number, sequence: number): Buffer {
  const body = Buffer.alloc(24);
  body.writeUInt32BE(tsn, 0);
  body.writeUInt16BE(1, 4);
  body.writeUInt16BE(sequence, 6);
  body.writeUInt32BE(50, 8);
  body.writeUInt8(3, 12);
  return chunk(DATA, 3, body);
}

function skipping(tsn: number, streams: number): Buffer {
  const body = Buffer.alloc(4 + 4 * streams);
  body.writeUInt32BE(tsn, 0);
  for (let stream = 0; stream < streams; stream++) body.writeUInt16BE(100 + stream, 4 + 4 * stream);
  return chunk(SKIP, 0, body);
}

function resetting(sequence: number, streams: number, first = 0): Buffer {
  const body = Buffer.alloc(16 + 2 * streams);
  body.writeUInt16BE(13, 0);
  body.writeUInt16BE(body.length, 2);
  body.writeUInt32BE(sequence, 4);
  for (let stream = 0; stream < streams; stream++) body.writeUInt16BE(first + stream, 16 + 2 * stream);
  return chunk(RESET, 0, body);
}
