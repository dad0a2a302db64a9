import type { Server, ServerWebSocket } from "bun";

/** A connection to a scripted provider, from the provider's side. */
export interface Connection {
  url: URL;
  headers: Headers;
  /** JSON messages that came, in order. */
  messages: Record<string, unknown>[];
  /** Binary messages that came, joined. */
  bytes: Uint8Array;
  /** Length of each binary message. */
  lengths: number[];
  isOpen: boolean;
  send(message: object | string | Uint8Array): void;
  /** Ends the connection without a closing frame. */
  drop(): void;
  close(code: number, reason: string): void;
}

export interface SpeechServer {
  /** Without a slash at its end. */
  url: string;
  connections: Connection[];
  requests: Request[];
  /** Answers the next connections with this status instead; null accepts them. */
  refuseWith: number | null;
  /** While set, connections wait. */
  gate: Promise<void> | null;
  onMessage: (connection: Connection, message: Record<string, unknown>) => void;
  onRequest: (request: Request) => Response | Promise<Response>;
  /** The newest connection. @throws if there is none yet */
  last(): Connection;
  stop(): Promise<void>;
}

/** A provider whose every step a test decides. */
export function startSpeechServer(): SpeechServer {
  const sockets = new Map<ServerWebSocket<Connection>, Connection>();
  const listener: Server<Connection> = Bun.serve<Connection>({
    port: 0,
    hostname: "127.0.0.1",
    fetch: async (request) => {
      const isUpgrade = request.headers.get("upgrade") === "websocket";
      if (server.refuseWith !== null) return new Response("refused", { status: server.refuseWith });
      if (!isUpgrade) {
        server.requests.push(request.clone() as Request);
        return server.onRequest(request);
      }
      await server.gate;
      const data = newConnection(request);
      return listener.upgrade(request, { data }) ? undefined : new Response("no upgrade", { status: 400 });
    },
    websocket: {
      open: (socket) => {
        const connection = socket.data;
        sockets.set(socket, connection);
        connection.isOpen = true;
        connection.send = (message) =>
          void socket.send(
            message instanceof Uint8Array || typeof message === "string" ? message : JSON.stringify(message),
          );
        connection.drop = () => socket.terminate();
        connection.close = (code, reason) => socket.close(code, reason);
        server.connections.push(connection);
      },
      message: (socket, message) => {
        const connection = socket.data;
        if (typeof message !== "string") {
          connection.bytes = Buffer.concat([connection.bytes, message]);
          connection.lengths.push(message.length);
          return;
        }
        const parsed = JSON.parse(message) as Record<string, unknown>;
        connection.messages.push(parsed);
        server.onMessage(connection, parsed);
      },
      close: (socket) => {
        socket.data.isOpen = false;
        sockets.delete(socket);
      },
    },
  });
  const server: SpeechServer = {
    url: listener.url.origin,
    connections: [],
    requests: [],
    refuseWith: null,
    gate: null,
    onMessage: () => {},
    onRequest: () => new Response("no answer", { status: 404 }),
    last: () => {
      const connection = server.connections.at(-1);
      if (!connection) throw new Error("nobody connected");
      return connection;
    },
    stop: () => listener.stop(true),
  };
  return server;
}

function newConnection(request: Request): Connection {
  return {
    url: new URL(request.url),
    headers: request.headers,
    messages: [],
    bytes: new Uint8Array(),
    lengths: [],
    isOpen: false,
    send: () => {},
    drop: () => {},
    close: () => {},
  };
}

/** The samples in what came. */
export function samplesIn(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return Array.from({ length: bytes.length / 2 }, (_, at) => view.getInt16(at * 2, true));
}
