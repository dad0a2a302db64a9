import type { DialectName, ExpectedStream } from "../../src/store/media-streams.ts";
import { newToken } from "../../src/token.ts";
import type { ArrivedStream } from "../../src/transport/media-stream/connection.ts";
import { type ListenOptions, listenForStreams } from "../../src/transport/media-stream/listen.ts";

/** A call of the carrier, for another process to end. */
export const FAR_END = { type: "carrier", carrierId: "car_1", carrierCallId: "CA1" } as const;

/** A listener on loopback whose streams are expected without a database. */
export function listener(options: Partial<ListenOptions> = {}) {
  const expected = new Map<string, ExpectedStream>();
  const arrived: ArrivedStream[] = [];
  const dropped: Record<string, number> = {};
  const listening = listenForStreams({
    hostname: "127.0.0.1",
    port: 0,
    tls: null,
    streamsMax: 100,
    claim: async (token) => {
      const stream = expected.get(token) ?? null;
      expected.delete(token);
      return stream;
    },
    arrived: (stream) => arrived.push(stream),
    expectAnother: async () => ({ urls: [], arrived: Promise.resolve(false), cancel: () => {} }),
    dropped: (reason) => {
      dropped[reason] = (dropped[reason] ?? 0) + 1;
    },
    ...options,
  });
  return {
    ...listening,
    arrived,
    dropped,
    /** The address of a stream that is expected. */
    expect: (dialect: DialectName, ownerId = "own_1") => {
      const token = newToken();
      expected.set(token, { ownerId, callId: "call_1", dialect });
      return `ws://${listening.address}/media/${token}`;
    },
  };
}

/** What a carrier says on a WebSocket, with the fields of its documentation. */
const CARRIERS = {
  twilio: {
    start: () => [
      { event: "connected", protocol: "Call", version: "1.0.0" },
      {
        event: "start",
        sequenceNumber: "1",
        start: {
          accountSid: "AC1",
          streamSid: "MZ1",
          callSid: "CA1",
          tracks: ["inbound"],
          mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000, channels: 1 },
          customParameters: {},
        },
        streamSid: "MZ1",
      },
    ],
    media: (payload: string) => ({
      event: "media",
      sequenceNumber: "3",
      media: { track: "inbound", chunk: "1", timestamp: "5", payload },
      streamSid: "MZ1",
    }),
    dtmf: (digit: string) => ({
      event: "dtmf",
      streamSid: "MZ1",
      sequenceNumber: "5",
      dtmf: { track: "inbound_track", digit },
    }),
    played: (name: string) => ({ event: "mark", sequenceNumber: "4", streamSid: "MZ1", mark: { name } }),
    cleared: () => [],
    stop: () => [{ event: "stop", sequenceNumber: "5", stop: { accountSid: "AC1", callSid: "CA1" }, streamSid: "MZ1" }],
  },
  plivo: {
    start: () => [
      {
        event: "start",
        sequenceNumber: 1,
        start: {
          callId: "CA1",
          streamId: "MZ1",
          accountId: "MA1",
          tracks: ["inbound"],
          mediaFormat: { encoding: "audio/x-mulaw", sampleRate: 8000 },
        },
        extra_headers: "",
      },
    ],
    media: (payload: string) => ({
      event: "media",
      sequenceNumber: 2,
      streamId: "MZ1",
      media: { track: "inbound", timestamp: "1705312200000", chunk: 2, payload },
      extra_headers: "",
    }),
    dtmf: (digit: string) => ({
      event: "dtmf",
      sequenceNumber: 5,
      streamId: "MZ1",
      dtmf: { track: "inbound", digit, timestamp: "1705312200000" },
    }),
    played: (name: string) => ({ event: "playedStream", sequenceNumber: 6, streamId: "MZ1", name }),
    cleared: () => [{ event: "clearedAudio", sequenceNumber: 7, streamId: "MZ1" }],
    stop: () => [],
  },
} as const;

/** A carrier that streams to an address, plays what it gets in no time, and confirms its marks. */
export async function carrier(url: string, dialect: DialectName) {
  const words = CARRIERS[dialect];
  const played: Uint8Array[] = [];
  const events: string[] = [];
  const socket = new WebSocket(url);
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  const send = (...messages: object[]) => {
    for (const message of messages) socket.send(JSON.stringify(message));
  };
  socket.addEventListener("message", ({ data }) => {
    const message = JSON.parse(data);
    events.push(message.event);
    if (message.streamSid !== "MZ1" && message.streamId !== "MZ1") throw new Error(`a message of no stream: ${data}`);
    const payload = message.media?.payload;
    if (payload) played.push(Buffer.from(payload, "base64"));
    const mark = message.mark?.name ?? (message.event === "checkpoint" ? message.name : undefined);
    if (mark) send(words.played(mark));
    if (message.event === "clearAudio") send(...words.cleared());
  });
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("close", ({ code }) => reject(new Error(`closed with ${code}`)));
  });
  return {
    socket,
    closed,
    events,
    played,
    send,
    start: () => send(...words.start()),
    speak: (audio: Uint8Array) => send(words.media(Buffer.from(audio).toString("base64"))),
    press: (digit: string) => send(words.dtmf(digit)),
    hangUp: () => {
      send(...words.stop());
      socket.close(1_000);
    },
  };
}
