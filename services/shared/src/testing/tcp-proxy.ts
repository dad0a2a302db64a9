import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface TcpProxy {
  /** host:port */
  address: string;
  /** Where connections lead. @param address host:port, of this machine */
  to(address: string): void;
  /** How many there were. */
  connections(): number;
  /** Passes nothing on any more, and closes nothing: the peer has vanished. */
  silence(): void;
  /** The same of the connections there are; another takes the place of who was there. */
  replace(): void;
  /** Closes every connection and takes no new one. */
  close(): Promise<void>;
  /** Takes connections again, at the same address, and passes on what they say. */
  open(): Promise<void>;
}

/** A way to a server that can fail. */
export async function startTcpProxy(): Promise<TcpProxy> {
  const sockets = new Set<Socket>();
  let [target, connections, vanished, silent] = [0, 0, 0, false];
  const pass = (from: Socket, to: Socket, number: number) => {
    const isSilent = () => silent || number <= vanished;
    sockets.add(from);
    from.on("data", (bytes) => isSilent() || to.write(bytes));
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
