import { expect, test } from "bun:test";
import fc from "fast-check";
import { openConnection } from "../../src/transport/media-stream/connection.ts";
import { listening } from "../listening.ts";
import { FAR_END } from "./carrier.ts";

const START = {
  event: "start",
  start: { streamSid: "MZ1", callSid: "CA1", mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000 } },
};

const field = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.base64String({ maxLength: 40 }),
  fc.constantFrom("inbound", "outbound", "1", "#", "__proto__"),
  fc.integer(),
  fc.constant(null),
  fc.constant({}),
);
const part = fc.oneof(
  field,
  fc.dictionary(fc.constantFrom("payload", "track", "digit", "name", "streamSid", "callSid", "mediaFormat"), field),
);
const message = fc
  .record(
    {
      event: fc.constantFrom("connected", "start", "media", "dtmf", "mark", "stop", "playedStream", "clearedAudio", 7),
      start: part,
      media: part,
      dtmf: part,
      mark: part,
      name: field,
    },
    { requiredKeys: [] },
  )
  .map((given) => JSON.stringify(given));
const sent = fc.array(fc.oneof(message, fc.json({ maxDepth: 2 }), fc.string(), fc.uint8Array().map(Buffer.from)), {
  maxLength: 30,
});

test("whatever a carrier sends, its stream ends once, closes once and plays nothing afterwards", () => {
  fc.assert(
    fc.property(fc.constantFrom("twilio", "plivo"), fc.boolean(), sent, (dialect, isStarted, messages) => {
      const us = listening();
      const closes: number[] = [];
      let isClosed = false;
      const connection = openConnection(
        {
          expected: { ownerId: "own_1", callId: "call_1", dialect },
          send: (text) => {
            if (isClosed) throw new Error(`sent after the end: ${text}`);
          },
          close: (code) => {
            isClosed = true;
            closes.push(code);
          },
          terminate: () => {},
          expectAnother: async () => ({ urls: [], arrived: Promise.resolve(false), cancel: () => {} }),
          dropped: () => {},
        },
        (stream) => {
          const leg = stream.accept(us.to, {
            farEnd: FAR_END,
            press: async () => {},
            transfer: async () => {},
            hangUp: async () => {},
          });
          leg.play(new Int16Array(320));
          leg.clear();
        },
      );
      if (isStarted) connection.received(JSON.stringify(START));
      for (const each of messages) connection.received(each);
      connection.closed(1_006);
      connection.received(JSON.stringify(START));
      expect(closes.length).toBeLessThanOrEqual(1);
      expect(us.endings.length).toBeLessThanOrEqual(1);
      expect(us.keys.every((key) => /^[0-9*#A-D]$/.test(key))).toBeTrue();
    }),
    { numRuns: 3_000 },
  );
});
