import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  /** host:port */
  address: string;
  /** Sets the target of connections. @param address host:port on this machine */
  to(address: string): void;
  /** Number of connections so far. */
  connections(): number;
  /** Delays all data by this many milliseconds. */
  delay(ms: number): void;
  /** Stops passing data on without closing connections, as if the peer had vanished. */
  silence(): void;
  /** The same for the existing connections only; new ones reach a new peer. */
  replace(): void;
  /** Closes every connection and accepts no new one. */
  close(): Promise<void>;
  /** Accepts connections again at the same address and passes their data on. */
  open(): Promise<void>;
}

/** A proxy in front of a server that can fail on request. */
export async function startTcpProxy(): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let [target, connections, vanished, silent, delayMs] = [0, 0, 0, false, 0];
  const pass = (from: Socket, to: Socket, number: number) => {
    const isSilent = () => silent || number <= vanished;
    sockets.add(from);
    const passOn = (bytes: string | Uint8Array) => isSilent() || to.write(bytes);
    from.on("data", (bytes) => (delayMs > 0 ? setTimeout(passOn, delayMs, bytes) : passOn(bytes)));
    from.on("close", () => {
      sockets.delete(from);
      if (!isSilent()) to.destroy();
    });
    from.on("error", () => {});
  };
  const server = createServer((client) => {
    const number = ++connections;
    const upstream = connect(target, "127.0.0.1");
    pass(client, upstream, number);
    pass(upstream, client, number);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as AddressInfo;
  return {
    address: `127.0.0.1:${port}`,
    to: (address) => {
      target = Number(address.split(":")[1]);
    },
    connections: () => connections,
    delay: (ms) => {
      delayMs = ms;
    },
    silence: () => {
      silent = true;
    },
    replace: () => {
      vanished = connections;
    },
    close: async () => {
      const closed = new Promise((resolve) => server.close(resolve));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
    open: () => {
      silent = false;
      return listen(port);
    },
  };
}
