import { expect, test } from "bun:test";
import type { RtpPacket } from "@parley/shared/media/rtp-packet";
import fc from "fast-check";
import { FRAME_MS, FRAME_SAMPLES } from "../../src/audio/pcm.ts";
import type { Codec } from "../../src/transport/rtp/codec.ts";
import { hearing } from "../../src/transport/rtp/hearing.ts";
import { badNetwork } from "../kit/bad-network.ts";

/** Each packet is a frame of its own number, from 1: what is heard shows which packets it is made of. */
const CODEC: Codec = {
  payloadType: 0,
  clockHz: 8_000,
  encode: () => new Uint8Array(),
  decode: ([high = 0, low = 0]) => {
    if (high === 0xff) throw new Error("malformed");
    return new Int16Array(FRAME_SAMPLES).fill((high << 8) | low);
  },
};
const STEPS = 160;

test.each([1, 2, 3, 4])(
  "over a network that loses, doubles and reorders packets, each is heard once and in its place (%d)",
  (seed) => {
    const sent = packets(1_000);
    const delays = badNetwork({ lost: 0.05, doubled: 0.05, jitterMs: 40, seed });
    // The first one decides where the others belong.
    const arriving = sent.flatMap(({ at, packet }) => (at ? delays() : [0]).map((ms) => ({ at: at + ms, packet })));
    const lost = new Set(sent.map(({ packet }) => packet.sequence)).difference(sequencesOf(arriving)).size;
    const heard = hear(arriving);
    expect(heard).toEqual(heard.map((number, at) => (number === 0 ? 0 : at + 1)));
    // The last packets may be lost, too.
    expect(heard.length).toBeGreaterThan(995);
    expect(lost).toBeGreaterThan(20);
    expect(heard.filter((number) => number === 0).length).toBeLessThanOrEqual(lost);
  },
);

test("whatever a network does, packets are heard in order, none twice, and for as long as the peer speaks", () => {
  const network = fc.record({
    lost: fc.double({ min: 0, max: 0.5, noNaN: true }),
    doubled: fc.double({ min: 0, max: 0.5, noNaN: true }),
    jitterMs: fc.nat(300),
    seed: fc.integer(),
  });
  fc.assert(
    fc.property(
      network,
      fc.integer({ min: 0, max: 0xffff }),
      fc.integer({ min: 0, max: 0xffff_ffff }),
      (given, ...at) => {
        const delays = badNetwork(given);
        const arriving = packets(300, ...at).flatMap((each) => delays().map((ms) => ({ ...each, at: each.at + ms })));
        const heard = hear(arriving);
        const numbers = heard.filter((number) => number > 0);
        expect(numbers).toEqual([...new Set(numbers)].toSorted((a, b) => a - b));
        const first = numbers[0] ?? 1;
        const last = numbers.at(-1) ?? 0;
        // Late packets have had silence in their place, once.
        const duration = heard.lastIndexOf(last) - heard.indexOf(first);
        expect(Math.abs(duration - (last - first)) * FRAME_MS).toBeLessThanOrEqual(given.jitterMs + FRAME_MS);
      },
    ),
    { numRuns: 300, examples: [[{ lost: 0, doubled: 0, jitterMs: 83, seed: -547266919 }, 0, 0]] },
  );
});

test.each([2, 4, 5, 10, 150])("an outage in which %d packets are lost is as long as it was", (lost) => {
  const arriving = packets(400).filter(({ packet: { sequence } }) => sequence < 100 || sequence >= 100 + lost);
  const heard = hear(arriving);
  expect(heard).toEqual(heard.map((number, at) => (number === 0 ? 0 : at + 1)));
  expect(heard.filter((number) => number === 0)).toHaveLength(lost);
});

test("what arrives late and at once is heard, and later losses make up for the silence before it", () => {
  const arriving = packets(400)
    .map((each) => (each.at > 1_000 && each.at < 1_300 ? { ...each, at: 1_300 } : each))
    .filter(({ packet }) => packet.sequence < 200 || packet.sequence % 5 > 0);
  const heard = hear(arriving);
  const numbers = heard.filter((number) => number > 0);
  expect(numbers.slice(0, 200)).toEqual(Array.from({ length: 200 }, (_, at) => at + 1));
  expect(heard.at(-1)).toBe(400);
  expect(heard).toHaveLength(400);
});

test("a network that delivers packets in bursts delays a peer once, and puts silence into its words once", () => {
  const arriving = packets(600).map(({ at, packet }) => ({ at: Math.ceil(at / 160) * 160, packet }));
  const heard = hear(arriving);
  expect(heard.filter((number) => number > 0)).toEqual(Array.from({ length: 600 }, (_, at) => at + 1));
  expect(heard.filter((number) => number === 0).length * FRAME_MS).toBeLessThanOrEqual(160);
});

test("a pause is heard at once by a peer whose packets came in bursts before", () => {
  const pauses = 20;
  const arriving = packets(pauses * 16).map(({ at, packet }) => {
    // Each burst is followed by a pause of a second that nothing is sent in, as the timestamps say.
    const pause = Math.floor(packet.sequence / 16);
    const behind = pause * (1_000 / FRAME_MS);
    return {
      at: Math.ceil(at / 320) * 320 + pause * 1_000,
      packet: { ...packet, timestamp: packet.timestamp + behind * STEPS },
    };
  });
  const heard = hear(arriving);
  expect(heard.filter((number) => number > 0)).toHaveLength(pauses * 16);
  expect(Math.abs(heard.length * FRAME_MS - (pauses - 1) * 1_320)).toBeLessThanOrEqual(420);
});

test("a peer that sends nothing while it is silent is heard as silence, which makes up for no losses", () => {
  const pause = { packets: 100, ms: 2_000 };
  const arriving = packets(300)
    .map(({ at, packet }) => ({
      at: packet.sequence < 100 ? at : at + pause.ms,
      packet: { ...packet, timestamp: packet.timestamp + (packet.sequence < 100 ? 0 : pause.packets * STEPS) },
    }))
    .filter(({ packet }) => packet.sequence !== 200);
  const heard = hear(arriving);
  // To the tick.
  expect(Math.abs(heard.length - 300 - pause.packets)).toBeLessThanOrEqual(1);
  expect(heard.filter((number) => number > 0)).toHaveLength(299);
  expect(heard.indexOf(202) - heard.indexOf(200)).toBe(2);
});

test("a lost packet of a pressed key adds no time", () => {
  // A key of 60 ms, in place of the audio, and two more packets of its end at once.
  const arriving = packets(50).map(({ at, packet }) => {
    const isKey = packet.sequence >= 20 && packet.sequence < 25;
    const behind = packet.sequence < 23 ? 0 : Math.min(2, packet.sequence - 22);
    const timestamp = packet.timestamp - behind * STEPS;
    return {
      at: at - behind * FRAME_MS,
      packet: { ...packet, timestamp, ...(isKey && { payload: new Uint8Array() }) },
    };
  });
  const heard = hear(arriving.filter(({ packet }) => packet.sequence !== 23));
  expect(heard.filter((number) => number > 0)).toHaveLength(45);
  expect(heard).toHaveLength(48);
});

test.each([
  ["stand still", () => 0],
  ["run twice as fast", (sequence: number) => sequence * 2 * STEPS],
  ["are random", (sequence: number) => (sequence * 2_654_435_761) >>> 0],
])("timestamps that %s neither silence a peer nor shorten its losses", (_what, timestampOf) => {
  const arriving = packets(200)
    .map(({ at, packet }) => ({ at, packet: { ...packet, timestamp: timestampOf(packet.sequence) } }))
    .filter(({ packet }) => packet.sequence !== 100);
  const heard = hear(arriving);
  expect(heard.filter((number) => number > 0)).toHaveLength(199);
  expect(heard.slice(0, 100)).not.toContain(0);
  expect(heard.slice(100).indexOf(102)).toBeGreaterThan(0);
  expect(heard.slice(100).indexOf(102)).toBeLessThanOrEqual(3);
});

test("a new source is followed at once, what waits of the one before is heard, and what comes too late is not", () => {
  const before = packets(50).filter(({ packet }) => packet.sequence !== 48);
  const late = { at: 50 * FRAME_MS + 5, packet: numbered(48, 0, 0) };
  const after = packets(100, 7_000, 9_000).slice(50);
  const arriving = [...before, late, ...after.map(({ at, packet }) => ({ at, packet: { ...packet, ssrc: 2 } }))];
  const heard = hear(arriving);
  expect(heard).toEqual(Array.from({ length: 100 }, (_, at) => (at === 48 ? 0 : at + 1)));
});

test("a malformed packet is heard as silence", () => {
  const arriving = packets(10);
  (arriving[5] as Arriving).packet.payload = Uint8Array.of(0xff);
  expect(hear(arriving)).toEqual([1, 2, 3, 4, 5, 0, 7, 8, 9, 10]);
});

interface Arriving {
  /** Milliseconds. */
  at: number;
  packet: RtpPacket;
}

/** A packet each 20 ms, numbered from the given sequence and timestamp on. */
function packets(count: number, sequence = 0, timestamp = 0): Arriving[] {
  return Array.from({ length: count }, (_, at) => ({ at: at * FRAME_MS, packet: numbered(at, sequence, timestamp) }));
}

function numbered(at: number, sequence: number, timestamp: number): RtpPacket {
  return {
    payloadType: 0,
    marker: false,
    sequence: (sequence + at) & 0xffff,
    timestamp: (timestamp + at * STEPS) >>> 0,
    ssrc: 1,
    payload: Uint8Array.of((at + 1) >> 8, (at + 1) & 0xff),
  };
}

function sequencesOf(arriving: readonly Arriving[]): Set<number> {
  return new Set(arriving.map(({ packet }) => packet.sequence));
}

/** Lets packets arrive, with a tick each 20 ms. @returns the number of the packet in each frame that is heard; 0 is silence */
function hear(arriving: readonly Arriving[]): number[] {
  const frames: number[] = [];
  let now = 0;
  const heard = hearing({ dropped: () => {}, now: () => now }, { heard: (frame) => void frames.push(numberOf(frame)) });
  let tick = 10;
  const tickUntil = (at: number) => {
    for (; tick <= at; tick += FRAME_MS) {
      now = tick;
      heard.tick();
    }
    now = at;
  };
  for (const { at, packet } of arriving.toSorted((a, b) => a.at - b.at)) {
    tickUntil(at);
    heard.receive(packet, CODEC);
  }
  // Until the last ones have waited for those before them.
  tickUntil(now + 60 + FRAME_MS);
  return frames;
}

/** A frame that is made of two packets, as after silence that is not a whole number of frames, counts for the later one. */
function numberOf(frame: Int16Array): number {
  return frame[frame.length - 1] as number;
}
