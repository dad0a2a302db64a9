import { afterEach, expect, test } from "bun:test";
import { muLaw } from "@parley/shared/media/g711";
import { resampler } from "@parley/shared/media/resample";
import { eventually } from "@parley/testkit/eventually";
import { framer } from "../../src/audio/frames.ts";
import { newToken } from "../../src/token.ts";
import type { LegListener } from "../../src/transport/leg.ts";
import type { ArrivedStream } from "../../src/transport/media-stream/connection.ts";
import { DIALECTS } from "../../src/transport/media-stream/dialects.ts";
import type { ListenOptions } from "../../src/transport/media-stream/listen.ts";
import { streamLeg } from "../../src/transport/media-stream/stream-leg.ts";
import { listening, tone } from "../listening.ts";
import { carrier, FAR_END, listener as openListener } from "./carrier.ts";

const listeners: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of listeners.splice(0)) await each.stop();
});

function listener(options: Partial<ListenOptions> = {}) {
  const opened = openListener(options);
  listeners.push(opened);
  return opened;
}

/** A stream that has started, and the leg that accepted it. */
async function stream(dialect: "twilio" | "plivo", to: LegListener, asked: string[] = []) {
  const streams = listener();
  const line = await carrier(streams.expect(dialect), dialect);
  line.start();
  const arrived = await eventually(() => streams.arrived[0] ?? Promise.reject(new Error("no stream")));
  const leg = arrived.accept(to, {
    farEnd: FAR_END,
    press: async (keys, urls) => void asked.push(`press ${keys}`, ...urls),
    transfer: async (target) => void asked.push(`transfer ${target}`),
    hangUp: async () => void asked.push("hang up"),
  });
  return { streams, line, arrived, leg };
}

/** 20 ms of a tone, as carriers send it. */
function telephoneTone(hz: number): Uint8Array[] {
  const narrow = tone(hz, 1).filter((_, at) => at % 2 === 0);
  return Array.from({ length: 25 }, (_, at) => muLaw.encode(narrow.subarray(at * 160, (at + 1) * 160)));
}

test.each(["twilio", "plivo"] as const)(
  "both sides of a %s stream hear each other, with keys and marks",
  async (dialect) => {
    const us = listening();
    const { line, arrived, leg } = await stream(dialect, us.to);
    expect(arrived).toMatchObject({ ownerId: "own_1", callId: "call_1", carrierCallId: "CA1" });
    for (const part of telephoneTone(500)) line.speak(part);
    line.press("4");
    line.press("#");
    leg.play(tone(1_500, 0.5));
    leg.mark("said");
    const them = listening();
    await eventually(() => expect(us.marks).toEqual(["said"]));
    expect(us.heardTone(500)).toBeTrue();
    expect(us.keys).toEqual(["4", "#"]);
    const widen = resampler(8_000, 16_000);
    const hear = framer(them.to.heard);
    for (const part of line.played) hear(widen(muLaw.decode(part)));
    expect(them.heardTone(1_500)).toBeTrue();
    expect(line.played.every((part) => part.length === 160)).toBeTrue();
    line.hangUp();
    await eventually(() => expect(us.endings).toEqual(["hung_up"]));
  },
);

test.each([
  ["twilio", "clear"],
  ["plivo", "clearAudio"],
] as const)("a %s carrier drops what it has not played when it is interrupted", async (dialect, event) => {
  const us = listening();
  const { line, leg } = await stream(dialect, us.to);
  leg.play(tone(500, 30));
  leg.mark("never");
  await eventually(() => expect(line.played.length).toBeGreaterThan(0));
  leg.clear();
  await eventually(() => expect(line.events).toContain(event));
  expect(leg.queuedSamples()).toBe(0);
  leg.play(tone(500, 0.02));
  leg.mark("after");
  await eventually(() => expect(us.marks).toEqual(["after"]));
});

test("a carrier that goes on with its stream presses keys in the call, in the order in which they were asked for", async () => {
  const us = listening();
  const asked: string[] = [];
  const { line, leg } = await stream("plivo", us.to, asked);
  await Promise.all([leg.press("1"), leg.press("2w#")]);
  expect(asked).toEqual(["press 1", "press 2w#"]);
  line.press("7");
  await eventually(() => expect(us.keys).toEqual(["7"]));
  await leg.hangUp();
  await expect(leg.press("3")).rejects.toThrow("The call has ended");
});

test("a call is hung up at the carrier too, once", async () => {
  const us = listening();
  const asked: string[] = [];
  const { line, leg } = await stream("twilio", us.to, asked);
  await leg.hangUp();
  await leg.hangUp();
  expect(await line.closed).toBe(1_000);
  expect(asked).toEqual(["hang up"]);
  expect(us.endings).toEqual(["ended_by_us"]);
});

test("a carrier that ends the stream before it confirms a transfer has transferred the call", async () => {
  const us = listening();
  const streams = listener();
  const line = await carrier(streams.expect("twilio"), "twilio");
  line.start();
  const arrived = await eventually(() => streams.arrived[0] ?? Promise.reject(new Error("no stream")));
  const confirmed = Promise.withResolvers<void>();
  const leg = arrived.accept(us.to, {
    farEnd: FAR_END,
    press: async () => {},
    transfer: () => confirmed.promise,
    hangUp: () => Promise.reject(new Error("no")),
  });
  const transferred = leg.transfer("+15550100");
  line.hangUp();
  await eventually(() => expect(arrived.gone.aborted).toBeTrue());
  expect(us.endings).toEqual([]);
  confirmed.resolve();
  await transferred;
  expect(us.endings).toEqual(["ended_by_us"]);
  await leg.hangUp();
});

test("the stream of a call whose transfer is confirmed stays open until the carrier takes the call over", async () => {
  const us = listening();
  const { line, leg, arrived } = await stream("plivo", us.to);
  const transferred = leg.transfer("+15550100");
  // By the time the carrier has heard this, anything that would end the stream at once has happened.
  leg.play(tone(500, 0.1));
  await eventually(() => expect(line.played.length).toBeGreaterThan(0));
  expect(arrived.gone.aborted).toBeFalse();
  expect(us.endings).toEqual([]);
  line.hangUp();
  await transferred;
  expect(us.endings).toEqual(["ended_by_us"]);
});

test("a carrier that never takes a transferred call over loses its stream", async () => {
  const us = listening();
  const closed = Promise.withResolvers<void>();
  const { leg, use } = streamLeg(
    {
      dialect: DIALECTS.plivo,
      expectAnother: async () => ({ urls: [], arrived: Promise.resolve(false), cancel: () => {} }),
      carrier: { farEnd: FAR_END, press: async () => {}, transfer: async () => {}, hangUp: async () => {} },
      dropped: () => {},
      takeOverMaxMs: 1,
    },
    us.to,
  );
  use({ streamId: "s", send: () => {}, close: closed.resolve });
  await leg.transfer("+15550100");
  await closed.promise;
  expect(us.endings).toEqual(["ended_by_us"]);
});

test("a call continues after a transfer that the carrier refuses", async () => {
  const us = listening();
  const streams = listener();
  const line = await carrier(streams.expect("plivo"), "plivo");
  line.start();
  const arrived = await eventually(() => streams.arrived[0] ?? Promise.reject(new Error("no stream")));
  const refused = new Error("not a number");
  const leg = arrived.accept(us.to, {
    farEnd: FAR_END,
    press: async () => {},
    transfer: () => Promise.reject(refused),
    hangUp: async () => {},
  });
  await expect(leg.transfer("+1")).rejects.toThrow(refused);
  line.press("1");
  await eventually(() => expect(us.keys).toEqual(["1"]));
  expect(us.endings).toEqual([]);
});

test("a connection that breaks ends its call as lost", async () => {
  const us = listening();
  const { line } = await stream("plivo", us.to);
  line.socket.terminate();
  await eventually(() => expect(us.endings).toEqual(["lost"]));
});

test("a token opens one stream, and a made-up one none", async () => {
  const streams = listener();
  const url = streams.expect("twilio");
  await carrier(url, "twilio");
  await expect(carrier(url, "twilio")).rejects.toThrow("closed");
  await expect(carrier(`${url.slice(0, -2)}xx`, "twilio")).rejects.toThrow("closed");
  const http = url.replace("ws:", "http:");
  expect((await fetch(http)).status).toBe(426);
  expect((await fetch(new URL("/media/short", http))).status).toBe(404);
  expect(await handshake(http)).toBe(403);
  expect(streams.dropped.stranger).toBe(3);
});

test("an owner may have as many streams as calls, and another owner's streams do not count", async () => {
  const streams = listener({ streamsMax: 1 });
  const first = await carrier(streams.expect("twilio"), "twilio");
  expect(await handshake(streams.expect("twilio").replace("ws:", "http:"))).toBe(429);
  await carrier(streams.expect("twilio", "own_2"), "twilio");
  first.hangUp();
  await first.closed;
  await eventually(async () => void (await carrier(streams.expect("twilio"), "twilio")));
});

test("an owner's streams whose tokens are looked up together are no more than its calls either", async () => {
  const { promise: found, resolve: find } = Promise.withResolvers<void>();
  let asked = 0;
  const streams = listener({
    streamsMax: 2,
    claim: async () => {
      asked++;
      await found;
      return { ownerId: "own_1", callId: "call_1", dialect: "twilio" };
    },
  });
  const urls = Array.from({ length: 10 }, () => streams.expect("twilio"));
  const opened = Promise.allSettled(urls.map((url) => carrier(url, "twilio")));
  await eventually(() => expect(asked).toBe(10));
  find();
  expect((await opened).filter(({ status }) => status === "fulfilled")).toHaveLength(2);
});

test("while tokens cannot be checked, carriers are asked to try again", async () => {
  const streams = listener({ claim: () => Promise.reject(new Error("the database is unreachable")) });
  expect(await handshake(streams.expect("twilio").replace("ws:", "http:"))).toBe(503);
});

test("strangers who guess tokens while look-ups are slow take no carrier's place", async () => {
  const asked: string[] = [];
  const { promise: found, resolve: find } = Promise.withResolvers<void>();
  const right = newToken();
  const streams = listener({
    claim: async (token) => {
      asked.push(token);
      await found;
      return token === right ? { ownerId: "own_1", callId: "call_1", dialect: "twilio" } : null;
    },
  });
  const open = (token: string) => carrier(`ws://${streams.address}/media/${token}`, "twilio");
  const strangers = Promise.allSettled(Array.from({ length: 300 }, () => open(newToken())));
  await eventually(() => expect(asked).toHaveLength(300));
  const line = open(right);
  await eventually(() => expect(asked).toContain(right));
  find();
  (await line).start();
  await eventually(() => expect(streams.arrived).toHaveLength(1));
  expect((await strangers).every(({ status }) => status === "rejected")).toBeTrue();
});

test("a stream that does not start is closed", async () => {
  const streams = listener({ startMaxMs: 50 });
  const line = await carrier(streams.expect("twilio"), "twilio");
  expect(await line.closed).toBe(1_008);
  expect(streams.dropped.stream_no_start).toBe(1);
});

test("a stream of another codec is closed", async () => {
  const streams = listener();
  const line = await carrier(streams.expect("plivo"), "plivo");
  const mediaFormat = { encoding: "audio/x-l16", sampleRate: 16_000 };
  line.send({ event: "start", start: { callId: "CA1", streamId: "MZ1", mediaFormat } });
  expect(await line.closed).toBe(1_003);
  expect(streams.dropped.stream_codec).toBe(1);
});

test("a stream that is refused is closed, and one that left cannot be accepted", async () => {
  const streams = listener({ arrived: (stream: ArrivedStream) => stream.refuse() });
  const line = await carrier(streams.expect("twilio"), "twilio");
  line.start();
  expect(await line.closed).toBe(1_000);

  const patient = listener();
  const other = await carrier(patient.expect("twilio"), "twilio");
  other.start();
  const arrived = await eventually(() => patient.arrived[0] ?? Promise.reject(new Error("no stream")));
  other.hangUp();
  await eventually(() => expect(arrived.gone.aborted).toBeTrue());
  const nobody = { farEnd: FAR_END, press: async () => {}, transfer: async () => {}, hangUp: async () => {} };
  expect(() => arrived.accept(listening().to, nobody)).toThrow(
    "The other party hung up before the agent was on the line",
  );
});

test("a message that is too large, or more than audio can be, ends the stream", async () => {
  const us = listening();
  const { line } = await stream("twilio", us.to);
  line.socket.send("x".repeat(17 * 1024));
  await line.closed;
  await eventually(() => expect(us.endings).toEqual(["lost"]));

  const them = listening();
  const flood = await stream("twilio", them.to);
  const message = new Uint8Array(10_000);
  // Two minutes' worth, so that a slow machine that takes seconds to receive it still sees a flood.
  for (let sent = 0; sent < 600; sent++) flood.line.speak(message);
  // With which code is lost if the carrier still sends when the connection ends.
  await flood.line.closed;
  await eventually(() => expect(flood.streams.dropped.stream_too_fast).toBe(1));
  expect(them.endings).toEqual(["lost"]);
});

test.each(["empty messages", "pings", "pongs"])("%s without end end the stream", async (what) => {
  const us = listening();
  const { streams, line } = await stream("twilio", us.to);
  // Ten times what audio needs in the time that a burst may cover.
  for (let sent = 0; sent < 10_000; sent++) {
    if (what === "empty messages") line.socket.send("");
    else if (what === "pings") line.socket.ping();
    else line.socket.pong();
  }
  await line.closed;
  await eventually(() => expect(us.endings).toEqual(["lost"]));
  expect(streams.dropped.stream_too_fast).toBe(1);
  expect(streams.dropped.malformed_stream ?? 0).toBeLessThan(3_000);
});

/** The status that the handshake is refused with. */
async function handshake(url: string): Promise<number> {
  const headers = {
    Upgrade: "websocket",
    Connection: "Upgrade",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
  };
  return (await fetch(url, { headers })).status;
}
