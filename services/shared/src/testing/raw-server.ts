import net from "node:net";

export interface RawServer extends AsyncDisposable {
  port: number;
  url: string;
  /** One entry a connection, in the order they were opened. */
  connections: { received: string; isClosed: boolean }[];
}

/** A server on 127.0.0.1 that says, byte for byte, what a test has it say. `onData` is told the connection's and its message's number. */
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
