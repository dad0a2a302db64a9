import { connect, type Socket } from "node:net";

export interface HttpAnswer {
  status: number;
  headers: Headers;
  body: string;
}

/** An HTTP/1.1 client that never resends a request, so that it hides no loss. */
export interface HttpClient {
  /**
   * Sends one request at a time, on the previous one's connection if that stays open.
   * @param onHead called when the response head has arrived
   * @throws when the connection ends before the response is complete
   */
  request(method: string, path: string, init?: HttpInit): Promise<HttpAnswer>;
  /** Connections made so far. */
  readonly connections: number;
  close(): void;
}

export interface HttpInit {
  headers?: Record<string, string>;
  body?: string;
  onHead?: () => void;
}

interface Connection {
  socket: Socket;
  /** The server has closed it. */
  isOver: boolean;
}

export function createHttpClient(url: string): HttpClient {
  const { hostname, port, host } = new URL(url);
  let current: Connection | null = null;
  let connections = 0;

  async function open(): Promise<Connection> {
    connections++;
    const socket = connect({ host: hostname, port: Number(port), noDelay: true });
    const connection = { socket, isOver: false };
    const over = () => {
      connection.isOver = true;
    };
    socket.on("end", over).on("close", over);
    await new Promise<void>((resolve, reject) => socket.once("connect", resolve).once("error", reject));
    socket.on("error", over);
    return connection;
  }

  return {
    async request(method, path, { headers = {}, body, onHead } = {}) {
      const isReused: boolean = current !== null && !current.isOver;
      if (!current || current.isOver) current = await open();
      const { socket } = current;
      const lines = Object.entries({ host, ...headers, "content-length": Buffer.byteLength(body ?? "") });
      socket.write(
        `${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n${body ?? ""}`,
      );
      try {
        const answer = await read(socket, onHead);
        if (answer.headers.get("connection") === "close") current.isOver = true;
        return answer;
      } catch (error) {
        current.isOver = true;
        throw new Error(`${method} ${path} on a ${isReused ? "kept" : "new"} connection: ${(error as Error).message}`);
      } finally {
        if (current.isOver) socket.destroy();
      }
    },
    get connections() {
      return connections;
    },
    close: () => current?.socket.destroy(),
  };
}

async function read(socket: Socket, onHead?: () => void): Promise<HttpAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<HttpAnswer>();
  let bytes = Buffer.alloc(0);
  let head: Head | null = null;
  const onData = (data: Buffer) => {
    bytes = Buffer.concat([bytes, data]);
    if (!head) {
      head = headOf(bytes);
      if (head) onHead?.();
    }
    const body = head && bodyOf(head, bytes.subarray(head.length));
    if (head && body !== null) resolve({ status: head.status, headers: head.headers, body });
  };
  const onError = (error: Error) => reject(error);
  const onClose = () => reject(new Error(`closed after ${bytes.length} bytes of the answer`));
  socket.on("data", onData).on("error", onError).on("close", onClose);
  try {
    return await promise;
  } finally {
    socket.off("data", onData).off("error", onError).off("close", onClose);
  }
}

interface Head {
  status: number;
  headers: Headers;
  /** The length of the head in bytes, with the empty line. */
  length: number;
}

function headOf(bytes: Buffer): Head | null {
  const end = bytes.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers = new Headers(lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]));
  return { status: Number(first.split(" ")[1]), headers, length: end + 4 };
}

/** Returns null while it is incomplete. */
function bodyOf({ headers }: Head, bytes: Buffer): string | null {
  if (headers.get("transfer-encoding") === "chunked") return dechunk(bytes);
  const length = Number(headers.get("content-length"));
  return bytes.length < length ? null : bytes.subarray(0, length).toString();
}

/** RFC 9112, 7.1. */
function dechunk(bytes: Buffer): string | null {
  const chunks: Buffer[] = [];
  for (let at = 0; ; ) {
    const line = bytes.indexOf("\r\n", at);
    if (line === -1) return null;
    const size = Number.parseInt(bytes.subarray(at, line).toString("latin1"), 16);
    const begin = line + 2;
    if (bytes.length < begin + size + 2) return null;
    if (size === 0) return Buffer.concat(chunks).toString();
    chunks.push(bytes.subarray(begin, begin + size));
    at = begin + size + 2;
  }
}
