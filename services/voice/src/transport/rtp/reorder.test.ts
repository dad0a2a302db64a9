import { expect, test } from "bun:test";
import type { RtpPacket } from "@parley/shared/media/rtp-packet";
import fc from "fast-check";
import { reorder } from "./reorder.ts";

test("packets that swap places within the wait arrive in order, each once", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 0xffff }),
      fc.array(fc.nat(5), { minLength: 2, maxLength: 60 }),
      fc.array(fc.nat(60)),
      (first, delays, doubled) => {
        // The stream begins with the first packet; each later one is up to five packets late.
        const order = [0, ...delays.map((delay, at) => ({ at: at + 1, due: at + 1 + delay }))]
          .map((entry) => (typeof entry === "number" ? { at: 0, due: -1 } : entry))
          .sort((a, b) => a.due - b.due || a.at - b.at)
          .map(({ at }) => at);
        const { received, into } = sink();
        const buffer = reorder(into);
        for (const at of order) {
          buffer.receive(numbered(first + at), 0);
          if (doubled.includes(at)) buffer.receive(numbered(first + at), 0);
        }
        expect(received).toEqual(Array.from({ length: delays.length + 1 }, (_, at) => (first + at) & 0xffff));
      },
    ),
  );
});

test("a missing packet is given up after 60 ms, and ignored when it arrives later", () => {
  const { received, into } = sink();
  const buffer = reorder(into);
  buffer.receive(numbered(1), 0);
  buffer.receive(numbered(4), 10);
  buffer.expire(69);
  expect(received).toEqual([1]);
  buffer.expire(70);
  buffer.receive(numbered(3), 71);
  buffer.receive(numbered(5), 72);
  expect(received).toEqual([1, "2 lost", 4, 5]);
});

test("a new source is followed immediately", () => {
  const { received, into } = sink();
  const buffer = reorder(into);
  buffer.receive(numbered(1), 0);
  buffer.receive({ ...numbered(900), ssrc: 2 }, 1);
  expect(received).toEqual([1, 900]);
});

test.each([40_000, 65_000])(
  "a source that starts over at %d is followed from its second packet on, and one stray packet is not",
  (at) => {
    const { received, into } = sink();
    const buffer = reorder(into);
    buffer.receive(numbered(1), 0);
    buffer.receive(numbered(30_000), 1);
    buffer.receive(numbered(2), 2);
    buffer.receive(numbered(at), 3);
    buffer.receive(numbered(at + 1), 4);
    expect(received).toEqual([1, 2, at + 1]);
  },
);

test("a flood of gaps keeps at most 64 packets", () => {
  const { received, into } = sink();
  const buffer = reorder(into);
  for (let at = 0; at < 400; at += 2) buffer.receive(numbered(at), 0);
  expect(received.filter((each) => typeof each === "number").length).toBeGreaterThanOrEqual(200 - 64);
});

function sink() {
  const received: (number | string)[] = [];
  const into = ({ sequence }: RtpPacket, lost: number) => {
    if (lost > 0) received.push(`${lost} lost`);
    received.push(sequence);
  };
  return { received, into };
}

function numbered(sequence: number): RtpPacket {
  return {
    payloadType: 0,
    marker: false,
    sequence: sequence & 0xffff,
    timestamp: 0,
    ssrc: 1,
    payload: new Uint8Array(),
  };
}
