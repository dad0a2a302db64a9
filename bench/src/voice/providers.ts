/** Mocks of Deepgram's streaming speech and of a language model's API, which take fixed times (delays.ts). */
import { DELAYS_MS, QUESTION, REPLY, REPLY_MS } from "./delays.ts";

const HZ = 16_000;
/** The voice says everything as this tone, at a quarter of the scale. */
const TONE = Int16Array.from(
  { length: (HZ * REPLY_MS) / 1_000 },
  (_, at) => 8_000 * Math.sin((2 * Math.PI * 440 * at) / HZ),
);
const PIECE_BYTES = (HZ / 10) * 2;
/** A sample louder than this is speech; callers are noisy below it. */
const SPEECH_FROM = 2_000;
const PARTIAL_EVERY_MS = 300;

type Kind = { kind: "hears"; speechMs: number } | { kind: "speaks"; pending: Timer | undefined };

Bun.serve<Kind>({
  hostname: "127.0.0.1",
  port: Number(process.env.PORT),
  idleTimeout: 0,
  async fetch(request, server) {
    const { pathname } = new URL(request.url);
    if (pathname === "/v1/listen") return upgrade({ kind: "hears", speechMs: 0 });
    if (pathname === "/v1/speak") return upgrade({ kind: "speaks", pending: undefined });
    if (pathname === "/v1/chat/completions") {
      await Bun.sleep(DELAYS_MS.firstWord);
      return new Response(COMPLETION, { headers: { "Content-Type": "text/event-stream" } });
    }
    return new Response("ready");

    function upgrade(data: Kind) {
      return server.upgrade(request, { data }) ? undefined : new Response("no WebSocket", { status: 400 });
    }
  },
  websocket: {
    idleTimeout: 0,
    message(socket, message) {
      const { data } = socket;
      if (data.kind === "hears") hear(socket, data, message);
      else speak(socket, data, String(message));
    },
    close: ({ data }) => {
      if (data.kind === "speaks") clearTimeout(data.pending);
    },
  },
});

/** Says the words of the question while it is spoken, and all of them as final when it is asked. */
function hear(socket: Bun.ServerWebSocket<Kind>, data: Extract<Kind, { kind: "hears" }>, message: string | Buffer) {
  if (typeof message !== "string") {
    const samples = new Int16Array(message.buffer.slice(message.byteOffset, message.byteOffset + message.length));
    if (!samples.some((sample) => sample > SPEECH_FROM)) return;
    const before = data.speechMs;
    data.speechMs += (samples.length / HZ) * 1_000;
    const words = Math.floor(data.speechMs / PARTIAL_EVERY_MS);
    if (words > Math.floor(before / PARTIAL_EVERY_MS)) socket.send(result(QUESTION.split(" ").slice(0, words), false));
    return;
  }
  if (JSON.parse(message).type !== "Finalize") return;
  const wasSpeech = data.speechMs > 0;
  data.speechMs = 0;
  setTimeout(() => socket.send(result(wasSpeech ? QUESTION.split(" ") : [], true)), DELAYS_MS.transcript);
}

function result(words: readonly string[], isFinal: boolean): string {
  const alternatives = [{ transcript: words.join(" ") }];
  return JSON.stringify({ type: "Results", channel: { alternatives }, is_final: isFinal, from_finalize: isFinal });
}

/** Answers any text with the tone, once, as fast as it is read. */
function speak(socket: Bun.ServerWebSocket<Kind>, data: Extract<Kind, { kind: "speaks" }>, message: string) {
  const { type } = JSON.parse(message);
  if (type === "Clear") clearTimeout(data.pending);
  if (type === "Speak") {
    data.pending ??= setTimeout(() => {
      for (let at = 0; at < TONE.byteLength; at += PIECE_BYTES)
        socket.send(new Uint8Array(TONE.buffer, at, Math.min(PIECE_BYTES, TONE.byteLength - at)));
    }, DELAYS_MS.firstAudio);
  }
  // Comes after the audio, which has been sent by then or was not requested.
  if (type === "Flush") setTimeout(() => socket.send(JSON.stringify({ type: "Flushed" })), DELAYS_MS.firstAudio + 1);
}

const SHARED = { id: "chatcmpl-bench", created: 1_700_000_000, model: "bench", object: "chat.completion.chunk" };
const COMPLETION = [...REPLY.split(" ").map((word, at) => ({ content: at === 0 ? word : ` ${word}` })), null]
  .map((delta) => ({
    ...SHARED,
    choices: [{ index: 0, delta: delta ?? {}, finish_reason: delta ? null : "stop" }],
  }))
  .map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`)
  .concat("data: [DONE]\n\n")
  .join("");
