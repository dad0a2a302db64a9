import { connect, createServer, type Socket } from "node:net";

export interface DatabaseProxy {
  /** The database's address by way of the proxy. */
  url: string;
  /** Passes nothing on, and closes nothing: a peer that vanished. */
  silence(): void;
  /** Closes every connection and takes no new one. */
  close(): Promise<void>;
  open(): Promise<void>;
}

/** A way to a database that can fail. */
export async function startProxy(databaseUrl: string): Promise<DatabaseProxy> {
  const target = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let silent = false;
  const pass = (from: Socket, to: Socket) => {
    sockets.add(from);
    from.on("data", (bytes) => {
      if (!silent) to.write(bytes);
    });
    from.on("close", () => {
      sockets.delete(from);
      to.destroy();
    });
    from.on("error", () => {});
  };
  const server = createServer((client) => {
    const upstream = connect(Number(target.port), target.hostname);
    pass(client, upstream);
    pass(upstream, client);
  });
  const listen = (port: number) => new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  await listen(0);
  const { port } = server.address() as { port: number };
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: "127.0.0.1", port: String(port) }).toString(),
    silence: () => {
      silent = true;
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
