import type { DialectName } from "../../store/media-streams.ts";

/** A carrier's message on a media WebSocket. */
export type StreamMessage =
  | { type: "start"; streamId: string; carrierCallId: string; hasMuLaw: boolean }
  /** μ-law, 8,000 samples a second. */
  | { type: "media"; audio: Uint8Array }
  | { type: "key"; key: string }
  /** Everything that was sent before this mark has been played. */
  | { type: "mark"; name: string }
  | { type: "stop" }
  /** Means nothing to us. */
  | { type: "other" };

/** One carrier's version of the same protocol: JSON text messages with audio in base64. */
export interface Dialect {
  /** Returns null if it is not a message of the dialect. */
  read(message: Readonly<Record<string, unknown>>): StreamMessage | null;
  media(streamId: string, audio: Uint8Array): object;
  mark(streamId: string, name: string): object;
  /** Makes the carrier drop what it has not played. */
  clear(streamId: string): object;
  /** Whether the carrier ends the stream to press keys, and opens another one for the same call then. */
  isReplacedByKeys: boolean;
}

/** https://www.twilio.com/docs/voice/media-streams/websocket-messages */
const twilio: Dialect = {
  read: ({ event, start, media, dtmf, mark }) => {
    if (event === "start") return readStart(start, "streamSid", "callSid");
    if (event === "media") return readMedia(media);
    if (event === "dtmf") return readKey(dtmf);
    if (event === "mark") return readMark(fieldOf(mark, "name"));
    if (event === "stop") return { type: "stop" };
    return event === "connected" ? { type: "other" } : null;
  },
  media: (streamSid, audio) => ({ event: "media", streamSid, media: { payload: base64(audio) } }),
  mark: (streamSid, name) => ({ event: "mark", streamSid, mark: { name } }),
  clear: (streamSid) => ({ event: "clear", streamSid }),
  isReplacedByKeys: true,
};

/** https://www.plivo.com/docs/voice/audio-streaming/audio-streaming: it ends with the connection, without a message. */
const plivo: Dialect = {
  read: ({ event, start, media, dtmf, name }) => {
    if (event === "start") return readStart(start, "streamId", "callId");
    if (event === "media") return readMedia(media);
    if (event === "dtmf") return readKey(dtmf);
    if (event === "playedStream") return readMark(name);
    return event === "clearedAudio" ? { type: "other" } : null;
  },
  media: (streamId, audio) => ({
    event: "playAudio",
    streamId,
    media: { contentType: "audio/x-mulaw", sampleRate: 8_000, payload: base64(audio) },
  }),
  mark: (streamId, name) => ({ event: "checkpoint", streamId, name }),
  clear: (streamId) => ({ event: "clearAudio", streamId }),
  isReplacedByKeys: false,
};

export const DIALECTS = { twilio, plivo } as const satisfies Record<DialectName, Dialect>;

function readStart(start: unknown, streamId: string, callId: string): StreamMessage | null {
  const [stream, call] = [fieldOf(start, streamId), fieldOf(start, callId)];
  if (typeof stream !== "string" || typeof call !== "string" || stream === "" || call === "") return null;
  const format = fieldOf(start, "mediaFormat");
  const hasMuLaw = fieldOf(format, "encoding") === "audio/x-mulaw" && Number(fieldOf(format, "sampleRate")) === 8_000;
  return { type: "start", streamId: stream, carrierCallId: call, hasMuLaw };
}

function readMedia(media: unknown): StreamMessage | null {
  // The marks of our own audio tell nothing new.
  if (fieldOf(media, "track") === "outbound") return { type: "other" };
  const payload = fieldOf(media, "payload");
  if (typeof payload !== "string" || !/^[A-Za-z0-9+/]+={0,2}$/.test(payload) || payload.length % 4 !== 0) return null;
  return { type: "media", audio: Buffer.from(payload, "base64") };
}

function readKey(dtmf: unknown): StreamMessage | null {
  const key = fieldOf(dtmf, "digit");
  return typeof key === "string" && /^[0-9*#A-D]$/.test(key) ? { type: "key", key } : null;
}

function readMark(name: unknown): StreamMessage | null {
  return typeof name === "string" ? { type: "mark", name } : null;
}

function fieldOf(object: unknown, key: string): unknown {
  return typeof object === "object" && object !== null ? (object as Record<string, unknown>)[key] : undefined;
}

function base64(audio: Uint8Array): string {
  return Buffer.from(audio.buffer, audio.byteOffset, audio.byteLength).toString("base64");
}
