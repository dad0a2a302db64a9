import type { ServiceError } from "@parley/shared/errors";
import type { JsonObject } from "@parley/shared/json/json-object";
import type { Pcm } from "../../audio/pcm.ts";
import { type Access, refusal, timesOf, unreachable } from "../access.ts";
import { openSocket, type Socket, type SocketEnd } from "../socket.ts";
import { waitingAudio } from "./waiting-audio.ts";

/** A conversation over one WebSocket after another: a lost one is replaced, and what the user says in the meantime is kept. */
interface StsSession {
  /** Sends when the connection is ready. Messages that a lost connection did not send go over the next one. */
  send(message: object): void;
  sendAudio(audio: Pcm): void;
  /** The connection takes messages and audio. */
  ready(): void;
  /** Replaces the connection, because the provider is about to end it. */
  renew(): void;
  /** Ends the conversation; `fail` is not called afterwards. */
  stop(): void;
  fail(error: ServiceError): void;
}

interface StsDialect {
  /** Called for each connection. */
  address(): { url: string; headers: Record<string, string> };
  /** The first messages of a connection. */
  begin(): object[];
  audio(audio: Pcm): object;
  hear(message: JsonObject): void;
  /** A connection that had been ready is gone. */
  lost(): void;
  /** Whether another connection can continue with the conversation. */
  canResume(): boolean;
  /** Called once. Nothing is heard afterwards. */
  failed(error: ServiceError): void;
}

const RETRY_MS_MAX = 1_000;
/** Some seconds of audio: a provider that takes less has stalled, and hears the rest no more. */
const UNSENT_MAX_BYTES = 512 * 1024;
/** Limit for messages that wait to be sent; a call without a connection sends few. */
const WAITING_MAX = 100;
/** The provider refuses what the connection carries, so that another one would end the same way. */
const POLICY_VIOLATION = 1008;

export function stsSession(access: Access, signal: AbortSignal, dialect: StsDialect): StsSession {
  const times = timesOf(access);
  const waiting: object[] = [];
  const audio = waitingAudio();
  let socket: Socket | null = null;
  let isReady = false;
  let wasReady = false;
  let isOver = false;
  let retryMs = times.retryMs;
  let lostAtMs: number | null = null;
  let retryTimer: Timer | undefined;

  const stop = () => {
    isOver = true;
    clearTimeout(retryTimer);
    signal.removeEventListener("abort", stop);
    socket?.close();
  };
  const fail = (error: ServiceError) => {
    if (isOver) return;
    stop();
    dialect.failed(error);
  };

  const connect = () => {
    const opened = openSocket(
      { provider: access.provider, ...dialect.address(), connectMs: times.connectMs },
      {
        opened: () => dialect.begin().forEach((message) => void opened.send(message)),
        message: (message) => {
          if (!isOver && socket === opened) dialect.hear(message);
        },
        closed: (end) => {
          if (socket === opened) lost(end);
        },
      },
    );
    socket = opened;
  };

  const lost = ({ status, code }: SocketEnd) => {
    socket = null;
    if (isReady) dialect.lost();
    isReady = false;
    if (isOver) return;
    const refused = status === null ? null : refusal(access, status);
    if (refused) return fail(refused);
    if (!wasReady || code === POLICY_VIOLATION || !dialect.canResume())
      return fail(unreachable(access.provider, "the connection was lost"));
    const now = performance.now();
    lostAtMs ??= now;
    if (now - lostAtMs > times.keepMs)
      return fail(unreachable(access.provider, "there has been no connection for too long"));
    retryTimer = setTimeout(connect, retryMs);
    retryMs = Math.min(2 * retryMs, RETRY_MS_MAX);
  };

  signal.addEventListener("abort", stop);
  if (signal.aborted) stop();
  else connect();

  return {
    send: (message) => {
      if (isReady) socket?.send(message);
      else if (waiting.push(message) > WAITING_MAX) waiting.shift();
    },
    sendAudio: (pcm) => {
      if (isOver) return;
      if (!isReady) audio.push(pcm);
      else if (socket && socket.waitingBytes() < UNSENT_MAX_BYTES) socket.send(dialect.audio(pcm));
    },
    ready: () => {
      isReady = true;
      wasReady = true;
      lostAtMs = null;
      retryMs = times.retryMs;
      for (const message of waiting.splice(0)) socket?.send(message);
      for (const pcm of audio.take()) socket?.send(dialect.audio(pcm));
    },
    renew: () => {
      if (isOver || !isReady) return;
      const old = socket;
      isReady = false;
      dialect.lost();
      connect();
      old?.close();
    },
    stop,
    fail,
  };
}
