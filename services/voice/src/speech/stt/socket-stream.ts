import type { JsonObject } from "@parley/shared/json/json-object";
import { type Pcm, SAMPLES_PER_SECOND } from "../../audio/pcm.ts";
import { pcmBytes } from "../../audio/wav.ts";
import { type Access, refusal, timesOf, unreachable } from "../access.ts";
import { openSocket, type Socket, type SocketEnd } from "../socket.ts";
import type { ListenOptions, SpeechEvent, SpeechStream } from "../stt.ts";
import { audioTail } from "./audio-tail.ts";

/** What differs between providers that transcribe over a WebSocket. */
export interface Dialect {
  url(options: ListenOptions): string;
  headers: Record<string, string>;
  /** The shortest audio of a message, in milliseconds. */
  pieceMs: number;
  /** The message that requests the transcript of the audio so far. */
  finalize: object;
  /** The message that keeps a connection open without audio, and its interval. */
  keepAlive?: { message: object; everyMs: number };
  /** Sets the language of an open connection; null if that takes a new one. */
  setLanguage?(language: string): object | null;
  /** The events in a message; empty if it has none. */
  hear(message: JsonObject): Heard;
}

export interface Heard {
  partial?: string;
  final?: string;
  endOfTurn?: boolean;
  finalized?: boolean;
  /** Seconds of this connection's audio whose words do not change anymore. */
  heardSeconds?: number | null;
  /** The provider cannot continue. Its own words are not repeated. */
  failed?: string;
}

const RETRY_MS_MAX = 1_000;
/** Two seconds of audio: a provider that takes less has stalled. */
const WAITING_BYTES_MAX = 2 * SAMPLES_PER_SECOND * 2;
/** The provider refuses what the connection carries, so that another one would end the same way. */
const POLICY_VIOLATION = 1008;

/**
 * A stream over WebSockets, one after another: a lost one is replaced, and hears again what the lost one had not finished
 * transcribing.
 */
export function socketStream(
  access: Access,
  dialect: Dialect,
  options: ListenOptions,
  heard: (event: SpeechEvent) => void,
): SpeechStream {
  const times = timesOf(access);
  const tail = audioTail((times.keepMs / 1_000) * SAMPLES_PER_SECOND);
  const pieceSamples = (dialect.pieceMs / 1_000) * SAMPLES_PER_SECOND;
  let language = options.language;
  let socket: Socket | null = null;
  /** The positions of the connection's first sample, and of the next one to send. */
  let base = 0;
  let next = 0;
  let retryMs = times.retryMs;
  /** When transcription stopped; null while a connection works. */
  let lostAtMs: number | null = performance.now();
  let openedAtMs = Number.POSITIVE_INFINITY;
  let retryTimer: Timer | undefined;
  let finalizeTimer: Timer | undefined;
  let keepAliveTimer: Timer | undefined;
  /** The ends of the audio of the requests that are not answered yet. */
  const finalizing: number[] = [];
  let isOver = false;

  const stop = () => {
    isOver = true;
    for (const timer of [retryTimer, finalizeTimer]) clearTimeout(timer);
    clearInterval(keepAliveTimer);
    options.signal.removeEventListener("abort", stop);
    socket?.close();
  };
  const fail = (event: SpeechEvent) => {
    if (isOver) return;
    stop();
    heard(event);
  };
  /** @param until the end of the audio that the answer covers; null if it does not say, which covers one request */
  const finalized = (until: number | null) => {
    const covered = until === null ? 1 : finalizing.filter((end) => end <= until + pieceSamples).length;
    const answered = finalizing.splice(0, Math.max(1, covered));
    if (finalizing.length === 0) clearTimeout(finalizeTimer);
    for (const _request of answered) heard({ type: "finalized" });
  };

  const connect = () => {
    const url = dialect.url({ ...options, language });
    const opened = openSocket(
      { provider: access.provider, url, headers: dialect.headers, connectMs: times.connectMs },
      {
        opened: () => {
          openedAtMs = performance.now();
          ({ position: base } = tail.from(base));
          next = base;
          pump();
          if (finalizing.length > 0) sendFinalize();
        },
        message: (message) => tell(dialect.hear(message)),
        closed: lost,
      },
    );
    socket = opened;
  };
  const lost = (end: SocketEnd) => {
    socket = null;
    // A connection that ends as soon as it is open does not count as a success.
    if (performance.now() - openedAtMs > times.connectMs) works();
    openedAtMs = Number.POSITIVE_INFINITY;
    const refused = end.status === null ? null : refusal(access, end.status);
    if (refused) return fail({ type: "failed", error: refused });
    if (end.code === POLICY_VIOLATION) return fail({ type: "failed", error: refusedLater() });
    retry();
  };
  const refusedLater = () =>
    unreachable(
      access.provider,
      `it refused the connection: check the key in ${access.keyName}, the model and the language`,
    );
  const retry = () => {
    const now = performance.now();
    lostAtMs ??= now;
    if (now - lostAtMs > times.keepMs)
      return fail({ type: "failed", error: unreachable(access.provider, "there has been no connection for too long") });
    retryTimer = setTimeout(connect, retryMs);
    retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
  };
  const works = () => {
    lostAtMs = null;
    retryMs = times.retryMs;
  };
  const reconnect = () => {
    socket?.close();
    socket = null;
    clearTimeout(retryTimer);
    connect();
  };

  const tell = ({ failed, partial, final, heardSeconds, endOfTurn, finalized: isFinalized }: Heard) => {
    if (isOver) return;
    if (failed !== undefined) return fail({ type: "failed", error: unreachable(access.provider, failed) });
    if (partial || final || typeof heardSeconds === "number") works();
    const position = typeof heardSeconds === "number" ? base + Math.round(heardSeconds * SAMPLES_PER_SECOND) : null;
    if (position !== null) tail.forget(Math.min(position, next));
    if (partial) heard({ type: "partial", text: partial });
    if (final) heard({ type: "final", text: final });
    if (endOfTurn) heard({ type: "end_of_turn" });
    if (isFinalized) finalized(position);
  };

  /** Sends complete pieces, or everything that is left. */
  const pump = (all = false) => {
    if (!socket?.isOpen() || socket.waitingBytes() > WAITING_BYTES_MAX) return;
    const { audio, position } = tail.from(next);
    if (audio.length === 0 || (!all && audio.length < pieceSamples)) return;
    // Audio that the provider could not take in time is lost, and the positions that it reports leave it out.
    base += position - next;
    for (const piece of cut(audio)) socket.send(pcmBytes(piece));
    next = position + audio.length;
  };
  const sendFinalize = () => {
    pump(true);
    socket?.send(dialect.finalize);
  };

  if (dialect.keepAlive) {
    const { message, everyMs } = dialect.keepAlive;
    keepAliveTimer = setInterval(() => socket?.send(message), everyMs);
  }
  options.signal.addEventListener("abort", stop);
  if (options.signal.aborted) stop();
  else connect();

  return {
    send: (audio) => {
      if (isOver) return;
      tail.push(audio);
      pump();
    },
    finalize: () => {
      if (isOver) return;
      finalizing.push(tail.end());
      // Providers may leave out the answer when there is nothing to say.
      clearTimeout(finalizeTimer);
      finalizeTimer = setTimeout(() => finalized(Number.POSITIVE_INFINITY), times.finalizeMs);
      sendFinalize();
    },
    setLanguage: (tag) => {
      if (isOver || tag === language) return;
      language = tag;
      const message = dialect.setLanguage?.(tag);
      if (message) socket?.send(message);
      else if (message === null) reconnect();
    },
    close: stop,
  };
}

/** Into seconds: longer messages are refused. */
function* cut(audio: Pcm): Generator<Pcm> {
  for (let at = 0; at < audio.length; at += SAMPLES_PER_SECOND) yield audio.subarray(at, at + SAMPLES_PER_SECOND);
}
