import { afterEach, expect, test } from "bun:test";
import { muLaw } from "@parley/shared/media/g711";
import { writeRtp } from "@parley/shared/media/rtp-packet";
import { eventually } from "@parley/testkit/eventually";
import { listening } from "../../../tests/listening.ts";
import { openRtpStream } from "./stream.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const each of open.splice(0)) each.close();
});

test.each([
  ["on the internet does not aim audio at a private address before its packets come from there", "9.9.9.9", 0],
  ["of the same network gets audio before it has sent any", "127.0.0.1", 1],
] as const)("a peer %s", async (_what, from, expected) => {
  let heard = 0;
  const target = await Bun.udpSocket({ hostname: "127.0.0.1", socket: { data: () => void heard++ } });
  let sent = 0;
  const sending = () => {
    sent++;
    return null;
  };
  const ports = { first: 25_000, last: 25_999 };
  const stream = await openRtpStream(
    { hostname: "127.0.0.1", ports, dropped: () => {} },
    { ...listening().to, sending },
  );
  open.push(target, stream);
  const media = { law: muLaw, payloadType: 0, keysType: null, remoteKey: null, peerListens: true };
  stream.agree({ ...media, address: "127.0.0.1", port: target.port }, from);
  await eventually(() => expect(sent).toBeGreaterThan(5));
  expect(Math.min(1, heard)).toBe(expected);
  target.send(new Uint8Array([0x80, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 255]), stream.port, "127.0.0.1");
  await eventually(() => expect(heard).toBeGreaterThan(0));
});

test.each([
  ["the announced address", "127.0.0.2", "127.0.0.2", "192.0.2.1", true],
  ["the address that signals, because the announced one is behind NAT", "127.0.0.2", "10.0.0.9", "127.0.0.2", true],
  ["the address that signals, on a socket of both families", "127.0.0.2", "10.0.0.9", "::ffff:127.0.0.2", true],
  ["the announced address, written out", "::1", "0:0:0:0:0:0:0:1", "192.0.2.1", true],
  ["another address", "127.0.0.3", "127.0.0.2", "127.0.0.2", false],
  ["another address, though it sends first and knows the port", "127.0.0.3", "10.0.0.9", "127.0.0.2", false],
])("audio from %s is the peer's or a stranger's", async (_whose, source, announced, signaled, isPeers) => {
  const peer = await Bun.udpSocket({ hostname: source, socket: { data: () => {} } });
  const us = listening();
  let strangers = 0;
  const hostname = source.includes(":") ? source : "127.0.0.1";
  const stream = await openRtpStream(
    { hostname, ports: { first: 25_000, last: 25_999 }, dropped: () => void strangers++ },
    us.to,
  );
  open.push(peer, stream);
  const media = { law: muLaw, payloadType: 0, keysType: null, remoteKey: null, peerListens: true };
  stream.agree({ ...media, address: announced, port: 9 }, signaled);
  const payload = muLaw.encode(new Int16Array(160).fill(8_000));
  const send = (sequence: number) =>
    peer.send(
      writeRtp({ marker: false, ssrc: 1, payloadType: 0, sequence, timestamp: sequence * 160, payload }),
      stream.port,
      hostname,
    );
  for (let sequence = 0; sequence < 5; sequence++) send(sequence);
  await eventually(() =>
    expect({ heard: us.sounding(), strangers }).toEqual(
      isPeers ? { heard: 5, strangers: 0 } : { heard: 0, strangers: 5 },
    ),
  );
});

test("keys that are pressed during speech leave no gap in it", async () => {
  const peer = await Bun.udpSocket({ hostname: "127.0.0.1", socket: { data: () => {} } });
  const us = listening();
  const frames: number[] = [];
  const heard = (frame: Int16Array) => void frames.push(Math.max(...frame.map(Math.abs)));
  const ports = { first: 25_000, last: 25_999 };
  const stream = await openRtpStream({ hostname: "127.0.0.1", ports, dropped: () => {} }, { ...us.to, heard });
  open.push(peer, stream);
  const media = { law: muLaw, payloadType: 0, keysType: 101, remoteKey: null, peerListens: true };
  stream.agree({ ...media, address: "127.0.0.1", port: peer.port }, "127.0.0.1");
  const speech = muLaw.encode(new Int16Array(160).fill(8_000));
  for (let sequence = 0; sequence < 15; sequence++) {
    const isKey = sequence >= 5 && sequence < 10;
    const given = isKey
      ? { payloadType: 101, timestamp: 800, payload: new Uint8Array([7, 10, 0, 160]) }
      : { payloadType: 0, timestamp: (sequence < 5 ? sequence : sequence - 5) * 160, payload: speech };
    peer.send(writeRtp({ marker: false, ssrc: 1, sequence, ...given }), stream.port, "127.0.0.1");
  }
  await eventually(() => expect(frames.filter((loudest) => loudest > 0)).toHaveLength(10));
  expect(frames.slice(0, 10).every((loudest) => loudest > 0)).toBeTrue();
  expect(us.keys).toEqual(["7"]);
});

test("what follows comfort noise, which is not decoded, does not wait for it", async () => {
  const peer = await Bun.udpSocket({ hostname: "127.0.0.1", socket: { data: () => {} } });
  const { to, frames } = listening();
  const framesAtKey: number[] = [];
  const ports = { first: 25_000, last: 25_999 };
  const stream = await openRtpStream(
    { hostname: "127.0.0.1", ports, dropped: () => {} },
    { ...to, pressed: () => void framesAtKey.push(frames()) },
  );
  open.push(peer, stream);
  const media = { law: muLaw, payloadType: 0, keysType: 101, remoteKey: null, peerListens: true };
  stream.agree({ ...media, address: "127.0.0.1", port: peer.port }, "127.0.0.1");
  const types = [0, 0, 0, 0, 0, 13, 0, 0, 0, 0, 0, 101];
  for (const [sequence, payloadType] of types.entries()) {
    const payload = payloadType === 101 ? Uint8Array.of(7, 10, 0, 160) : new Uint8Array(payloadType === 13 ? 1 : 160);
    const packet = { marker: false, ssrc: 1, sequence, timestamp: sequence * 160, payloadType, payload };
    peer.send(writeRtp(packet), stream.port, "127.0.0.1");
  }
  // The comfort noise lasted for as long as a packet does.
  await eventually(() => expect(framesAtKey).toEqual([11]));
});
