import { networkOf } from "@parley/shared/rate-limit/network-of";
import type { Socket, udp } from "bun";
import { isRequest, readSip, type SipMessage, writeSip } from "./messages/message.ts";

/** Where a message came from or goes to. */
export interface Target {
  protocol: "UDP" | "TCP" | "TLS";
  /** An IP address. */
  address: string;
  port: number;
  /** The name that its certificate must have; absent: its address. */
  host?: string | undefined;
  /** Whose trunk or room it is, if we call it for somebody. */
  ownerId?: string | undefined;
}

/** How SIP over TLS is served; certificate and key as PEM. */
export interface SipTls {
  /** 0: any. */
  port: number;
  cert: string;
  key: string;
}

interface SipSockets {
  /** Where UDP and TCP are listened on. */
  address: string;
  port: number;
  /** Null without TLS. */
  tlsPort: number | null;
  /** Sends now or, over TCP, once connected. A message that cannot be sent is lost, as on a network. */
  send(message: SipMessage, to: Target): void;
  stop(): void;
}

interface SipReceiver {
  received(message: SipMessage, from: Target): void;
  /** A connection could not be made, or led to the wrong peer; the messages for it are lost. @param why a code, such as ECONNREFUSED */
  unreachable(to: Target, why: string): void;
  /** Counts what was not a SIP message. */
  malformed(): void;
  /** Whether a call has its requests carried by the connection: it stays open, since nobody else may be able to open it again. */
  isInUse(peer: Target): boolean;
}

/** Messages have 1 to 4 KiB; each is kept for a while, in case it is repeated. */
const MESSAGE_MAX_BYTES = 16 * 1024;
/** Connections that others have opened, and as many that we have: strangers take no room from our calls. */
const CONNECTIONS_MAX = 1_024;
/** The most connections that we open for one owner, in each process: one for each of the carriers that an owner may connect. */
const OF_OWNER_MAX = 100;
/** The most connections from one network, so that one peer leaves room for others; a trunk needs one or two. */
const FROM_NETWORK_MAX = 32;
/** How long a connection may stay open without a message. */
const SILENT_SECONDS = 10;
/** Bytes that wait for a peer that does not read; beyond, the connection ends. */
const UNSENT_MAX_BYTES = 256 * 1024;
const ATTEMPTS_MAX = 20;
const IDLE_SECONDS = 180;
const KEEP_ALIVE = "\r\n\r\n";

interface Connection {
  socket: Socket<Connection> | null;
  /** Whether messages may be sent: over TLS, once the other side has shown who it is, if that matters. */
  isReady: boolean;
  hasFailed: boolean;
  target: Target;
  /** The network that opened it; null if we did. */
  network: string | null;
  /** Bytes of a message that is not whole. */
  read: Buffer;
  unsent: Buffer;
}

interface SipSocketsOptions {
  hostname: string;
  /** The port of UDP and TCP; 0 takes any free one. */
  port: number;
  tls?: SipTls | undefined;
  /** PEM of the authorities that may sign servers' certificates; absent: the publicly trusted ones. */
  authorities?: string | undefined;
  /** How long a connection without a call stays open after its last message; absent: 180 s. */
  idleSeconds?: number | undefined;
}

/** Listens for SIP over UDP and TCP on one port, and over TLS on another. @throws when an address is taken */
export async function openSipSockets(
  { hostname, port, tls, authorities, idleSeconds = IDLE_SECONDS }: SipSocketsOptions,
  to: SipReceiver,
): Promise<SipSockets> {
  const connections = new Map<string, Connection>();

  /** @returns whether it was a message */
  const receive = (bytes: Buffer, from: Target): boolean => {
    const message = bytes.length <= MESSAGE_MAX_BYTES ? readSip(bytes) : null;
    if (message) to.received(message, from);
    else to.malformed();
    return message !== null;
  };

  const handlersOf = (protocol: "TCP" | "TLS") => ({
    open: (socket: Socket<Connection>) => {
      const { remoteAddress: address, remotePort } = socket;
      socket.data ??= connectionTo({ protocol, address, port: remotePort }, networkOf(address));
      if (socket.data.hasFailed) return void socket.terminate();
      const { network } = socket.data;
      const isOurs = network === null;
      socket.data.socket = socket;
      socket.data.isReady = protocol === "TCP" || !isOurs;
      socket.timeout(isOurs ? idleSeconds : Math.min(idleSeconds, SILENT_SECONDS));
      const key = keyOf(socket.data.target);
      if (network !== null && isFull(network)) return void socket.terminate();
      connections.set(key, socket.data);
      flush(socket.data);
    },
    handshake: (socket: Socket<Connection>, success: boolean, error: Error | null) => {
      // The name of a server that we call has been verified.
      if (!success) return fail(socket.data, error);
      socket.data.isReady = true;
      flush(socket.data);
    },
    data: (socket: Socket<Connection>, bytes: Buffer) => {
      const hasMessage = readFrom(socket.data, bytes);
      // Keep-alives alone do not keep a stranger's connection.
      if (hasMessage || socket.data.network === null) socket.timeout(idleSeconds);
    },
    drain: (socket: Socket<Connection>) => flush(socket.data),
    timeout: (socket: Socket<Connection>) => {
      if (to.isInUse(socket.data.target)) socket.timeout(idleSeconds);
      else socket.end();
    },
    close: (socket: Socket<Connection>) => {
      forget(socket.data);
      // A failed handshake may give its reason only after the end.
      setImmediate(() => fail(socket.data, null));
    },
    error: (socket: Socket<Connection>, error: Error) => fail(socket.data, error),
    connectError: (socket: Socket<Connection>, error: Error) => fail(socket.data, error),
  });

  const isFull = (network: string) => {
    const incoming = [...connections.values()].filter((connection) => connection.network !== null);
    if (incoming.length >= CONNECTIONS_MAX) return true;
    return incoming.filter((connection) => connection.network === network).length >= FROM_NETWORK_MAX;
  };

  /** Makes room for a connection of ours: if there is none, the owner with the most loses its oldest. @returns whether there is room */
  const makeRoom = (ownerId: string) => {
    const ours = [...connections.values()].filter(({ network }) => network === null);
    const owners = Map.groupBy(ours, ({ target }) => target.ownerId ?? "");
    if ((owners.get(ownerId)?.length ?? 0) >= OF_OWNER_MAX) return false;
    if (ours.length < CONNECTIONS_MAX) return true;
    const [oldest] = [...owners.values()].reduce((most, each) => (each.length > most.length ? each : most));
    fail(oldest, { code: "its owner has the most connections" });
    return true;
  };

  const fail = (connection: Connection | undefined, error: unknown) => {
    if (!connection) return;
    forget(connection);
    connection.socket?.terminate();
    if (connection.isReady || connection.hasFailed) return;
    connection.hasFailed = true;
    const { code } = (error ?? {}) as NodeJS.ErrnoException;
    to.unreachable(connection.target, code ?? "it was closed");
  };

  const forget = (connection: Connection | undefined) => {
    if (connection && connections.get(keyOf(connection.target)) === connection)
      connections.delete(keyOf(connection.target));
  };

  /** @returns whether a message was whole */
  const readFrom = (connection: Connection, bytes: Buffer): boolean => {
    connection.read = Buffer.concat([connection.read, bytes]);
    for (let hasMessage = false; ; ) {
      const pings = /^(?:\r\n)+/.exec(connection.read.subarray(0, 8).toString("latin1"))?.[0].length ?? 0;
      if (pings >= KEEP_ALIVE.length) write(connection, "\r\n");
      connection.read = connection.read.subarray(pings);
      const length = messageLength(connection.read);
      if (length === null || connection.read.length > MESSAGE_MAX_BYTES) {
        to.malformed();
        connection.socket?.terminate();
        return hasMessage;
      }
      if (length === 0 || connection.read.length < length) return hasMessage;
      hasMessage = receive(connection.read.subarray(0, length), connection.target) || hasMessage;
      connection.read = connection.read.subarray(length);
    }
  };

  const write = (connection: Connection, text: string) => {
    connection.unsent = Buffer.concat([connection.unsent, Buffer.from(text)]);
    if (connection.unsent.length > UNSENT_MAX_BYTES) connection.socket?.terminate();
    else flush(connection);
  };

  const datagrams = {
    data: (_socket: unknown, bytes: Buffer, fromPort: number, address: string) => {
      // Keep-alives of peers behind NAT (RFC 5626, section 3.5.1) are not messages.
      if (bytes.length <= 4 && bytes.toString().trim() === "") return;
      void receive(bytes, { protocol: "UDP", address, port: fromPort });
    },
    // A peer that is gone answers with ICMP; its transaction times out.
    error: () => {},
  };

  const listen = async (
    attempts: number,
  ): Promise<{ udpSocket: udp.Socket<"buffer">; listener: { stop(now: boolean): void } }> => {
    const udpSocket = await Bun.udpSocket({ hostname, port, binaryType: "buffer", socket: datagrams });
    try {
      return {
        udpSocket,
        listener: Bun.listen<Connection>({ hostname, port: udpSocket.port, socket: handlersOf("TCP") }),
      };
    } catch (error) {
      udpSocket.close();
      // The port that the system chose for UDP may be taken for TCP.
      if (port !== 0 || attempts === 0) throw error;
      return listen(attempts - 1);
    }
  };
  const { udpSocket, listener } = await listen(ATTEMPTS_MAX);
  const tlsListener = tls
    ? Bun.listen<Connection>({
        hostname,
        port: tls.port,
        tls: { cert: tls.cert, key: tls.key },
        socket: handlersOf("TLS"),
      })
    : null;

  const connect = (connection: Connection) => {
    const { protocol, address, port: peerPort, host } = connection.target;
    return Bun.connect({
      hostname: address,
      port: peerPort,
      data: connection,
      socket: handlersOf(protocol === "TLS" ? "TLS" : "TCP"),
      ...(protocol === "TLS" && {
        tls: { ca: authorities, serverName: host ?? address, rejectUnauthorized: true },
      }),
    }).catch((error) => fail(connection, error));
  };

  return {
    address: hostname,
    port: udpSocket.port,
    tlsPort: tlsListener?.port ?? null,
    send: (message, target) => {
      const text = writeSip(message);
      if (target.protocol === "UDP") return sendDatagram(udpSocket, text, target);
      const known = connections.get(keyOf(target));
      if (known) return write(known, text);
      // Answers go back over the connection of their request or not at all.
      if (!isRequest(message)) return;
      if (!makeRoom(target.ownerId ?? "")) {
        setImmediate(() => to.unreachable(target, "its owner has too many connections"));
        return;
      }
      const connection = connectionTo(target, null);
      connections.set(keyOf(target), connection);
      write(connection, text);
      void connect(connection);
    },
    stop: () => {
      udpSocket.close();
      listener.stop(true);
      tlsListener?.stop(true);
      for (const { socket } of connections.values()) socket?.terminate();
    },
  };
}

function sendDatagram(socket: udp.Socket<"buffer">, text: string, { port, address }: Target): void {
  try {
    socket.send(text, port, address);
  } catch {
    // The network refuses the address; the transaction times out.
  }
}

function flush(connection: Connection): void {
  if (!connection.socket || !connection.isReady || connection.unsent.length === 0) return;
  const written = connection.socket.write(connection.unsent);
  connection.unsent = connection.unsent.subarray(Math.max(0, written));
}

/** Bytes of the first message, 0 if its head is not whole, null if it cannot be one (RFC 3261, section 18.3). */
function messageLength(bytes: Buffer): number | null {
  const headEnd = bytes.indexOf("\r\n\r\n");
  if (headEnd < 0) return 0;
  const length = /\r\n(?:content-length|l)[ \t]*:[ \t]*(\d{1,6})[ \t]*(?:\r\n|$)/i.exec(
    bytes.subarray(0, headEnd + 2).toString("latin1"),
  )?.[1];
  return length === undefined ? null : headEnd + 4 + Number(length);
}

function connectionTo(target: Target, network: string | null): Connection {
  return {
    socket: null,
    isReady: false,
    hasFailed: false,
    target,
    network,
    read: Buffer.alloc(0),
    unsent: Buffer.alloc(0),
  };
}

function keyOf({ protocol, address, port }: Target): string {
  return `${protocol} ${address} ${port}`;
}
