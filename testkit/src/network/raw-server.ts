import net from "node:net";

export interface RawServer extends AsyncDisposable {
  port: number;
  url: string;
  /** One entry per connection, in the order of opening. */
  connections: { received: string; isClosed: boolean }[];
}

/** A server on 127.0.0.1 whose bytes a test controls. `onData` gets the number of the connection and of its message. */
export async function startRawServer(
  onData: (socket: net.Socket, connection: number, message: number) => void,
  listenOn = "127.0.0.1",
): Promise<RawServer> {
  const connections: RawServer["connections"] = [];
  const sockets: net.Socket[] = [];
  const server = net.createServer((socket) => {
    const connection = { received: "", isClosed: false };
    const number = connections.push(connection);
    let messages = 0;
    sockets.push(socket);
    socket.on("error", () => {});
    socket.on("close", () => {
      connection.isClosed = true;
    });
    socket.on("data", (data) => {
      connection.received += data.toString("latin1");
      onData(socket, number, ++messages);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, listenOn, resolve));
  const { port } = server.address() as net.AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}/`,
    connections,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}
