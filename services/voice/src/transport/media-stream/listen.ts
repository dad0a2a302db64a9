import type { ListenerFiles } from "@parley/shared/tls/listener-tls";
import type { ExpectedStream } from "../../store/media-streams.ts";
import { type ArrivedStream, type Connection, type Dropped, openConnection } from "./connection.ts";
import type { AnotherStream, StreamLeg } from "./stream-leg.ts";

export interface ListenOptions {
  hostname: string;
  /** 0: any. */
  port: number;
  tls: ListenerFiles | null;
  /** The most streams of one owner in this process. */
  streamsMax: number;
  /** Uses up a token. Null if the token is unknown or has been used. */
  claim(token: string): Promise<ExpectedStream | null>;
  arrived(stream: ArrivedStream): void;
  expectAnother(stream: ExpectedStream, leg: StreamLeg): Promise<AnotherStream>;
  /** Counts what is not used, by reason. */
  dropped(reason: Dropped | "stranger"): void;
  /** How long a carrier may take to say what the stream is; absent: 5 s. */
  startMaxMs?: number;
}

interface MediaListener {
  /** host:port. */
  address: string;
  port: number;
  /** Takes no more streams; those that are open continue. */
  close(): void;
  /** Ends them all. */
  stop(): Promise<void>;
}

/** Carriers' messages have 500 bytes. */
const MESSAGE_MAX_BYTES = 16 * 1024;
/**
 * Handshakes whose token is being looked up. Strangers cannot take these places from carriers while the database answers: hundreds of
 * tokens share a look-up.
 */
const CLAIMS_MAX = 4_096;
const HANDSHAKE_SECONDS = 10;
/** A connection that is silent for this long is closed; it is pinged before. */
const IDLE_SECONDS = 30;
/** Limit for messages to a carrier that does not read; a message of 20 ms has 300 bytes. */
const UNSENT_MAX_BYTES = 256 * 1024;
const PATH = /\/media\/([A-Za-z0-9_-]{43})$/;

/** Listens for the WebSockets on which carriers stream calls. @throws when the address is taken */
export function listenForStreams(options: ListenOptions): MediaListener {
  const streams = new Map<string, number>();
  let claims = 0;

  const count = (ownerId: string, change: 1 | -1) => {
    const left = (streams.get(ownerId) ?? 0) + change;
    if (left > 0) streams.set(ownerId, left);
    else streams.delete(ownerId);
  };

  /** Counts the stream of the token, unless it answers with a refusal. */
  const admit = async (token: string): Promise<ExpectedStream | Response> => {
    if (claims >= CLAIMS_MAX) return refusal(503, "Too many handshakes: try again");
    claims++;
    try {
      const expected = await options.claim(token);
      if (!expected) return refusal(403, "The token is wrong, has expired or was used");
      if ((streams.get(expected.ownerId) ?? 0) >= options.streamsMax)
        return refusal(429, "This account has reached its limit of streams");
      // At once: those of one look-up are compared with the limit before any of them continues.
      count(expected.ownerId, 1);
      return expected;
    } catch {
      return refusal(503, "The token cannot be checked now: try again");
    } finally {
      claims--;
    }
  };

  const server = Bun.serve<{ expected: ExpectedStream; connection: Connection | null }>({
    hostname: options.hostname,
    port: options.port,
    // Processes of one machine may share the port: any of them takes any stream.
    reusePort: true,
    idleTimeout: HANDSHAKE_SECONDS,
    maxRequestBodySize: 0,
    ...(options.tls && { tls: { cert: Bun.file(options.tls.cert), key: Bun.file(options.tls.key) } }),
    fetch: async (request) => {
      const token = PATH.exec(new URL(request.url).pathname)?.[1];
      if (!token) return refusal(404, "Not found");
      if (request.headers.get("upgrade")?.toLowerCase() !== "websocket") return refusal(426, "This is a WebSocket");
      const expected = await admit(token);
      if (expected instanceof Response) {
        options.dropped("stranger");
        return expected;
      }
      if (server.upgrade(request, { data: { expected, connection: null } })) return undefined;
      count(expected.ownerId, -1);
      return refusal(400, "The WebSocket could not be opened");
    },
    websocket: {
      maxPayloadLength: MESSAGE_MAX_BYTES,
      idleTimeout: IDLE_SECONDS,
      backpressureLimit: UNSENT_MAX_BYTES,
      closeOnBackpressureLimit: true,
      open: (socket) => {
        const { expected } = socket.data;
        socket.data.connection = openConnection(
          {
            expected,
            send: (text) => void socket.send(text),
            close: (code) => socket.close(code),
            terminate: () => socket.terminate(),
            expectAnother: (leg) => options.expectAnother(expected, leg),
            dropped: options.dropped,
            startMaxMs: options.startMaxMs,
          },
          options.arrived,
        );
      },
      message: (socket, message) => socket.data.connection?.received(message),
      ping: (socket, data) => socket.data.connection?.pinged(data.length),
      pong: (socket, data) => socket.data.connection?.pinged(data.length),
      close: (socket, code) => {
        count(socket.data.expected.ownerId, -1);
        socket.data.connection?.closed(code);
      },
    },
  });

  return {
    address: `${options.hostname}:${server.port}`,
    port: server.port ?? options.port,
    close: () => void server.stop(),
    stop: () => server.stop(true),
  };
}

function refusal(status: number, reason: string): Response {
  return new Response(`${reason}\n`, { status });
}
