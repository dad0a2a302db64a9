import { type JsonObject, parseObject } from "@parley/shared/json/json-object";
import { counter } from "@parley/shared/telemetry/instruments";

export interface Socket {
  /** Does nothing unless the socket is open. */
  send(message: object | Uint8Array<ArrayBuffer>): void;
  isOpen(): boolean;
  /** Bytes that are still to be sent. */
  waitingBytes(): number;
  /** Ends the connection at once; nothing is reported afterwards. */
  close(): void;
}

interface SocketListener {
  opened(): void;
  /** A JSON object. */
  message(message: Record<string, unknown>): void;
  bytes?(data: Uint8Array): void;
  /** Called once, when the connection failed or ended. */
  closed(end: SocketEnd): void;
}

export interface SocketEnd {
  /** HTTP status with which the connection was refused; null if it was not refused. */
  status: number | null;
  /** The code of the closing frame; 1006 if there was none. */
  code: number;
  /** Never shown to users, because a provider may repeat what it was sent. */
  reason: string;
}

/** Limit for a message: twice a minute of audio in base64. */
const MESSAGE_LENGTH_MAX = 8 * 1024 * 1024;

const malformed = counter(
  "parley.speech.malformed",
  "Messages from speech providers that could not be read",
  "{message}",
);

/** Opens a WebSocket to a provider. Counts and drops what is not a JSON object, or too long. */
export function openSocket(
  {
    provider,
    url,
    headers,
    connectMs,
  }: { provider: string; url: string; headers: Record<string, string>; connectMs: number },
  listener: SocketListener,
): Socket {
  const socket = new WebSocket(url, { headers });
  socket.binaryType = "arraybuffer";
  let status: number | null = null;
  let isOver = false;
  const end = (how: SocketEnd) => {
    clearTimeout(timer);
    if (isOver) return;
    isOver = true;
    listener.closed(how);
  };
  const timer = setTimeout(() => {
    end({ status: null, code: 1006, reason: "no connection in time" });
    socket.terminate();
  }, connectMs);

  socket.onopen = () => {
    clearTimeout(timer);
    if (!isOver) listener.opened();
  };
  socket.onmessage = ({ data }: MessageEvent<string | ArrayBuffer>) => {
    if (isOver) return;
    if ((typeof data === "string" ? data.length : data.byteLength) > MESSAGE_LENGTH_MAX)
      return malformed().add(1, { provider });
    if (typeof data !== "string" && listener.bytes) return listener.bytes(new Uint8Array(data));
    const message = parse(data);
    if (message) listener.message(message);
    else malformed().add(1, { provider });
  };
  // Bun reports the status of a refused upgrade only in its message.
  socket.onerror = (event) => {
    const found = /Expected 101 status code: (\d{3})/.exec((event as ErrorEvent).message ?? "");
    if (found) status = Number(found[1]);
  };
  socket.onclose = ({ code, reason }) => end({ status, code, reason });

  return {
    send: (message) => {
      if (socket.readyState === WebSocket.OPEN)
        socket.send(message instanceof Uint8Array ? message : JSON.stringify(message));
    },
    isOpen: () => socket.readyState === WebSocket.OPEN,
    waitingBytes: () => socket.bufferedAmount,
    close: () => {
      isOver = true;
      clearTimeout(timer);
      socket.terminate();
    },
  };
}

function parse(data: string | ArrayBuffer): JsonObject | null {
  return parseObject(typeof data === "string" ? data : new TextDecoder().decode(data));
}
